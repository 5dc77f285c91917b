// faultline reanalyze: reads the kept lines of a server's jobs again, while the server does not
// run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "rules/answer/diagnosis.h"
#include "rules/answer/shown_text.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "service/clock.h"
#include "service/reanalysis.h"

namespace faultline {
namespace {

struct ReanalyzeOptions {
  std::string data = "./faultline-data";
  std::string job;
  std::string rules;
};

// The summary that the server will give, except for what only a running server knows.
std::string summary_of(Store& store, const std::string& name, const Catalog& catalog) {
  JobState job(name);
  store.replay(
      name, [&](std::string_view packed) { job.take_packed_calls(packed).value(); },
      [&](const StoredBatch& each) {
        job.apply(each.source, each.batch, each.received,
                  each.calls_are_kept ? CallsAre::counted : CallsAre::new_ones);
      });
  return diagnose(job, catalog, {.now = utc_now()}).summary;
}

void reanalyze_job(Store& store, const std::string& job, const Catalog& catalog,
                   const std::shared_ptr<const Noteworthy>& asked) {
  const ReanalysisTold told = reanalyze(store, job, asked);
  if (told.lines == 0 && told.damaged == 0) {
    fmt::print("{}: none of its lines are kept\n", job);
    return;
  }
  fmt::print("{}: lines read again: {}; sources: {}; events new: {}, gone: {}\n", job, told.lines,
             told.sources, told.events_new, told.events_gone);
  if (told.damaged > 0)
    fmt::print("{}: stretches that are damaged and stay as they were: {}\n", job, told.damaged);
  if (told.events_new + told.events_gone > 0)
    fmt::print("  {}\n", shown(summary_of(store, job, catalog), 1000));
}

bool reanalyze_jobs(const ReanalyzeOptions& options) {
  const std::filesystem::path file = std::filesystem::path(options.data) / kDatabase;
  if (!std::filesystem::exists(file))
    throw std::runtime_error(fmt::format(
        "{}: there is no such file; --data must be the folder of a server", file.string()));
  const Catalog catalog = load_catalog(
      options.rules.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.rules));
  const auto asked = std::make_shared<const AskedByCatalog>(catalog);
  Store store(file);
  std::vector<std::string> jobs;
  for (const StoredJob& job : store.jobs())
    if (options.job.empty() || job.name == options.job) jobs.push_back(job.name);
  if (jobs.empty() && !options.job.empty())
    throw std::runtime_error(fmt::format("{}: there is no job \"{}\"", file.string(), options.job));
  bool all_good = true;
  for (const std::string& job : jobs) try {
      reanalyze_job(store, job, catalog, asked);
    } catch (const std::exception& failure) {  // only this job fails
      fmt::print(stderr, "faultline: {}: {}\n", job, failure.what());
      all_good = false;
    }
  return all_good;
}

}  // namespace

void add_reanalyze_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "reanalyze",
      "Read stored log lines again, with the current rules: those of this version, and of --rules");
  auto options = std::make_shared<ReanalyzeOptions>();
  command->add_option("--data", options->data, "The folder that the server was given as --data")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_option("--job", options->job, "Read only this job; by default all")
      ->type_name("NAME");
  command
      ->add_option(
          "--rules", options->rules,
          "A folder of your own signatures; start the server with the same folder afterwards, "
          "or it does not know them")
      ->type_name("DIR");
  command->footer(
      "New signatures find faults in old logs, too. Stop the server first.\n"
      "A running server reads a job again on request:\n"
      "  curl -X POST http://localhost:8686/api/v1/jobs/NAME/reanalyze");
  command->callback([options, &exit_code] {
    try {
      exit_code = reanalyze_jobs(*options) ? kExitGood : kExitError;
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
