// Runs the scoreboard; ./dev accuracy does. With --into, the tables take their place in a page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "accuracy/noise.h"
#include "accuracy/real.h"
#include "accuracy/scoreboard.h"

namespace {

using namespace faultline::accuracy;

constexpr std::string_view kBegin = "<!-- figures: ./dev accuracy writes them -->\n";
constexpr std::string_view kEnd = "<!-- end of the figures -->\n";

bool put_into(const std::string& path, const std::string& tables) {
  std::ostringstream read;
  read << std::ifstream(path).rdbuf();
  std::string page = read.str();
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return false;
  const std::size_t from = begin + kBegin.size();
  page.replace(from, end - from, "\n" + tables + "\n");
  std::ofstream out(path, std::ios::trunc);
  out << page;
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"How often diagnoses of simulated jobs are right"};
  std::uint64_t seeds = 20;
  std::uint64_t first = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::string only;
  std::string into;
  std::vector<std::string> real;
  std::string noise;
  bool explain = false;
  bool stated = false;
  app.add_option("--seeds", seeds, "Jobs of each family")->capture_default_str();
  app.add_option("--first", first, "The first seed")->capture_default_str();
  app.add_option("--threads", threads)->capture_default_str();
  app.add_option("--only", only, "Families whose name begins so");
  app.add_option("--into", into, "A page whose figures are to be replaced");
  app.add_option("--real", real, "Folders of labelled logs with an index.json: these alone")
      ->type_name("DIR");
  app.add_option("--noise", noise,
                 "A folder of judged kernel logs with an index.json, alone and beside jobs: these "
                 "alone; with --troubles, each that misleads")
      ->type_name("DIR");
  app.add_flag("--stated", stated, "List every cause that was stated, and whether it was so");
  app.add_flag("--troubles", explain, "Say of each job what went wrong");
  CLI11_PARSE(app, argc, argv);

  if (!real.empty() || !noise.empty()) {
    const Doctor doctor;
    for (const std::string& folder : real) fmt::print("{}", real_report(doctor, folder));
    if (!noise.empty())
      fmt::print("{}", noise_report(doctor, noise, first, threads, explain));
    return 0;
  }
  std::vector<Family> all = families();
  std::erase_if(all, [&](const Family& family) { return !family.name.starts_with(only); });
  const std::vector<Run> runs = run_all(all, first, seeds, threads);
  if (explain) fmt::print("{}\n", troubles(all, runs));
  if (stated)
    for (const Run& run : runs)
      for (const Stated& it : run.score.stated)
        fmt::print("{:.2f} {} {} {} #{}\n", it.confidence, it.right ? "right" : "wrong", it.cause,
                   all[run.family].name, run.seed);
  const std::string text = tables(all, runs);
  fmt::print("{}", text);
  if (!into.empty() && !put_into(into, text)) {
    fmt::print(stderr, "{}: no place for the figures\n", into);
    return 1;
  }
  return 0;
}
