// Runs the scoreboard, for ./dev accuracy.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "accuracy/fit_samples.h"
#include "accuracy/moments.h"
#include "accuracy/noise.h"
#include "accuracy/real.h"
#include "accuracy/scoreboard.h"
#include "accuracy/tiers.h"
#include "accuracy/unread.h"

namespace {

using namespace faultline::accuracy;

constexpr std::string_view kFigures = "figures: ./dev accuracy writes them";
constexpr std::string_view kFit = "fit: ./dev accuracy --fit writes it";

struct Wishes {
  std::uint64_t seeds = 20;
  std::uint64_t first = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::string only;
  std::string into;
  std::vector<std::string> real;
  std::vector<std::string> unread;
  std::string noise;
  std::string fit;
  std::string written;
  bool tiers = false;
  bool troubles = false;
  bool stated = false;
  bool moments = false;
  int patience = 20;
};

std::string text_of(const std::string& path) {
  std::ostringstream read;
  read << std::ifstream(path).rdbuf();
  return read.str();
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::trunc);
  out << text;
  return static_cast<bool>(out.flush());
}

// Replaces what stands between the mark and its end. False: the page has no such mark, or cannot be
// written.
bool put_into(const std::string& path, std::string_view mark, const std::string& tables) {
  std::string page = text_of(path);
  const std::string begins = fmt::format("<!-- {} -->\n", mark);
  const std::size_t begin = page.find(begins);
  const std::size_t end = page.find("<!-- end of the ", begin);
  if (begin == std::string::npos || end == std::string::npos) return false;
  const std::size_t from = begin + begins.size();
  page.replace(from, end - from, "\n" + tables + "\n");
  return write(path, page);
}

int show(const std::string& text, const std::string& into, std::string_view mark) {
  fmt::print("{}", text);
  if (into.empty() || put_into(into, mark, text)) return 0;
  fmt::print(stderr, "{}: no marker '<!-- {} -->' found, or the file cannot be written\n", into,
             mark);
  return 1;
}

int run_fit(const Wishes& wishes, const std::vector<Family>& all) {
  const Doctor doctor;
  WeightTable table(text_of(wishes.fit));
  std::vector<FitSample> samples =
      samples_of_jobs(doctor, table, all, wishes.first, wishes.seeds, wishes.threads);
  for (const std::string& folder : wishes.real)
    for (FitSample& sample : samples_of_logs(doctor, table, folder))
      samples.push_back(std::move(sample));
  fit(table, samples);
  if (!write(wishes.fit, table.written())) {
    fmt::print(stderr, "{} could not be written\n", wishes.fit);
    return 1;
  }
  return show(fit_report(table, samples), wishes.into, kFit);
}

std::string sum_in_words(const std::vector<faultline::ConfidenceStep>& sum) {
  std::string words;
  for (const faultline::ConfidenceStep& step : sum)
    words += fmt::format("{}{}", words.empty() ? "" : "; ", step.why);
  return words;
}

int run_scoreboard(const Wishes& wishes, const std::vector<Family>& all) {
  const std::vector<Run> runs = run_all(all, wishes.first, wishes.seeds, wishes.threads);
  if (wishes.troubles) fmt::print("{}\n", troubles(all, runs));
  if (wishes.stated)
    for (const Run& run : runs)
      for (const Stated& it : run.score.stated)
        fmt::print("{:.2f} {} {} | {} #{} | {}\n", it.confidence, it.right ? "right" : "wrong",
                   it.cause, all[run.family].name, run.seed, sum_in_words(it.sum));
  std::string text = tables(all, runs);
  if (wishes.only.empty()) {
    constexpr std::uint64_t kEnough = 5;  // each seed is diagnosed by every tier
    text += "\n### By what was sent\n\n" +
            tier_tables(run_tiers(wishes.first, std::min(wishes.seeds, kEnough), wishes.threads));
  }
  return show(text, wishes.into, kFigures);
}

// Writes each job into a folder of its own, for a person to look at.
int write_jobs(const Wishes& wishes, const std::vector<Family>& all) {
  for (const Family& family : all)
    for (std::uint64_t seed = wishes.first; seed < wishes.first + wishes.seeds; ++seed)
      for (const auto& [name, text] : case_of(family, seed).files) {
        const std::filesystem::path path =
            std::filesystem::path(wishes.written) / fmt::format("{} #{}", family.name, seed) / name;
        std::filesystem::create_directories(path.parent_path());
        if (write(path, text)) continue;
        fmt::print(stderr, "{} could not be written\n", path.string());
        return 1;
      }
  return 0;
}

// Runs the faultline binary that is built beside this program.
int run_live(const Wishes& wishes, const std::vector<Family>& all) {
  const auto own = std::filesystem::read_symlink("/proc/self/exe");
  const std::vector<WayScore> scores =
      run_moments({.program = own.parent_path() / "faultline",
                   .patience = std::chrono::seconds{wishes.patience},
                   .seed = wishes.first,
                   .threads = wishes.threads},
                  all);
  fmt::print("{}", moment_tables(scores, wishes.troubles));
  return all_is_well(scores) ? 0 : 1;
}

int run(const Wishes& wishes) {
  std::vector<Family> all = families();
  std::erase_if(all, [&](const Family& family) { return !family.name.starts_with(wishes.only); });
  if (!wishes.written.empty()) return write_jobs(wishes, all);
  if (!wishes.fit.empty()) return run_fit(wishes, all);
  if (wishes.moments) return run_live(wishes, all);
  if (wishes.tiers) {
    const std::vector<TierRun> runs = run_tiers(wishes.first, wishes.seeds, wishes.threads);
    if (wishes.troubles) fmt::print("{}\n", tier_troubles(runs));
    fmt::print("{}", tier_tables(runs));
    return 0;
  }
  for (const std::string& folder : wishes.unread) fmt::print("{}", unread_report(folder));
  if (!wishes.unread.empty()) return 0;
  if (wishes.real.empty() && wishes.noise.empty()) return run_scoreboard(wishes, all);
  const Doctor doctor;
  for (const std::string& folder : wishes.real) fmt::print("{}", real_report(doctor, folder));
  if (!wishes.noise.empty())
    fmt::print("{}",
               noise_report(doctor, wishes.noise, wishes.first, wishes.threads, wishes.troubles));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"How often diagnoses of simulated jobs are right"};
  Wishes wishes;
  app.add_option("--seeds", wishes.seeds, "Jobs of each family")->capture_default_str();
  app.add_option("--first", wishes.first, "The first seed")->capture_default_str();
  app.add_option("--threads", wishes.threads)->capture_default_str();
  app.add_option("--only", wishes.only, "Only families whose name begins with this text");
  app.add_option("--into", wishes.into, "Write the figures into this page");
  app.add_option(
         "--real", wishes.real,
         "Diagnose these folders of labelled logs with an index.json, and no simulated jobs; "
         "with --fit, fit to both")
      ->type_name("DIR");
  app.add_option("--unread", wishes.unread,
                 "Folders of logs: list lines that look like trouble and that no rule reads");
  app.add_option(
         "--noise", wishes.noise,
         "Diagnose only this folder of judged kernel logs with an index.json, alone and beside "
         "jobs; with --troubles, list each log that misleads")
      ->type_name("DIR");
  app.add_option("--fit", wishes.fit,
                 "Fit the weights of grounds, and write them into this grounds.yaml")
      ->expected(0, 1)
      ->default_str("rules/knowledge/catalog/grounds.yaml")
      ->type_name("FILE");
  app.add_option("--write", wishes.written,
                 "Write each job into a folder of its own below this one, and exit")
      ->type_name("DIR");
  app.add_flag("--moments", wishes.moments,
               "Only send jobs to a server in every way, and ask it after each request");
  app.add_option("--patience", wishes.patience,
                 "With --moments, --stall-after of the server, in seconds")
      ->capture_default_str();
  app.add_flag("--tiers", wishes.tiers, "Print only the tables by what was sent");
  app.add_flag(
      "--stated", wishes.stated,
      "List every cause that was stated, whether it was right, and the terms of its confidence");
  app.add_flag("--troubles", wishes.troubles, "Show for each job what went wrong");
  CLI11_PARSE(app, argc, argv);
  const auto begin = std::chrono::steady_clock::now();
  const int code = run(wishes);
  fmt::print(stderr, "took {:.0f} s\n",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return code;
}
