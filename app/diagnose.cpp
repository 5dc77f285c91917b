#include "app/diagnose.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "app/colours.h"
#include "app/commands.h"
#include "app/input_reader.h"
#include "app/input_walker.h"
#include "app/manual/command_help.h"
#include "app/progress.h"
#include "app/read_ahead.h"
#include "ingest/boot_time.h"
#include "model/json.h"
#include "model/refusals.h"
#include "rules/answer/diagnosis.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/answer/pasteable.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "rules/knowledge/catalog.h"
#include "rules/state/job_state.h"

namespace faultline {
namespace {

// More threads would only wait for the thread that folds.
constexpr unsigned kMaxThreads = 8;
constexpr std::chrono::milliseconds kRedraw{100};

// The result of folding all inputs.
struct Folded {
  std::size_t readable = 0;
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  Timestamp newest;  // last change of an input
};

std::optional<std::uint64_t> total_size(const std::vector<InputFile>& files) {
  std::uint64_t total = 0;
  for (const InputFile& file : files) {
    if (!file.size) return std::nullopt;
    total += *file.size;
  }
  return total;
}

// A folder may hold many files that are no logs.
constexpr std::size_t kMostHints = 12;

Folded fold(const std::vector<InputFile>& files, const Source& said,
            const std::shared_ptr<const Noteworthy>& noteworthy, Timestamp now,
            std::optional<Timestamp> boot_time, JobState& job, ProgressLine& progress) {
  std::atomic<std::uint64_t> bytes = 0;
  ReadAhead ahead(files.size(), std::min(std::thread::hardware_concurrency(), kMaxThreads),
                  [&](std::size_t input, const Deliver& deliver) {
                    return read_input(files[input], said, noteworthy, bytes, now, deliver,
                                      boot_time);
                  });
  Folded folded;
  std::size_t hints = 0;
  const std::optional<std::uint64_t> total = total_size(files);
  while (!ahead.finished()) {
    if (auto item = ahead.next(kRedraw)) {
      if (const auto* read = std::get_if<SourceBatch>(&item->what)) {
        job.apply(*read->source, read->batch, read->received);
        for (const std::string& why : refusals_in(read->batch))
          progress.say(
              fmt::format("faultline: warning: {}: not read: {}", read->source->name, why));
        folded.lines += read->batch.lines;
        folded.recognized += read->batch.recognized;
      } else {
        const InputFile& file = files[item->input];
        const auto& end = std::get<InputEnd>(item->what);
        if (!end.trouble.empty())
          progress.say(fmt::format("faultline: warning: {}: {}", file.path, end.trouble));
        for (const std::string& hint : end.hints)
          if (++hints <= kMostHints) progress.say(fmt::format("faultline: warning: {}", hint));
        if (end.readable) {
          ++folded.readable;
          folded.newest = std::max(folded.newest, file.changed);
        }
      }
    }
    progress.show({.bytes = bytes, .total_bytes = total, .lines = folded.lines});
  }
  if (hints > kMostHints)
    progress.say(
        fmt::format("faultline: warning: {} more files cannot be read", hints - kMostHints));
  return folded;
}

int fail(std::string_view message) {
  fmt::print(stderr, "faultline: {}\n", message);
  return kExitError;
}

int say_that_nothing_is_known(const DiagnoseOptions& options, std::size_t lines) {
  return fail(
      fmt::format("{}: {} known form: what NCCL and PyTorch print, kernels, launchers, schedulers, "
                  "frameworks, and tools that operators paste",
                  options.paths.size() == 1 ? options.paths.front()
                                            : fmt::format("{} paths", options.paths.size()),
                  lines == 0   ? "it holds no line of a"
                  : lines == 1 ? "its line has no"
                               : fmt::format("none of its {} lines has a", lines)));
}

std::string written(const JobState& job, const Diagnosis& diagnosis,
                    const DiagnoseOptions& options) {
  if (options.format == "json") {
    boost::json::value document = to_json(diagnosis);
    if (options.explain) document.as_object()["explanation"] = to_json(diagnosis.explanation);
    return pretty(document);
  }
  if (options.format == "markdown") return to_markdown(diagnosis);
  if (options.format == "html")
    return to_html(diagnosis, ranks_of(job, diagnosis), heard_of(job, diagnosis));
  std::string text = to_text(diagnosis, options.verbose);
  if (wants_colours(options.color, stdout)) text = coloured(text, diagnosis);
  return text + (options.explain ? to_text(diagnosis.explanation) : "");
}

void print(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw std::runtime_error("the diagnosis could not be written to stdout");
}

// Scripts tell verdicts apart by the exit status.
int exit_status(const Diagnosis& diagnosis) {
  switch (diagnosis.verdict) {
    case Verdict::healthy:
    case Verdict::running:
      return kExitGood;
    case Verdict::unknown:
    case Verdict::undecided:
      return kExitUndecided;
    case Verdict::slow:
    case Verdict::hang:
    case Verdict::failed:
    case Verdict::corrupt:
      break;
  }
  return kExitFault;
}

}  // namespace

int run_diagnose(const DiagnoseOptions& options) {
  Catalog catalog = load_catalog(options.rules);
  if (options.keep_secrets) catalog.secrets = std::make_shared<const Secrets>();
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const Result<Inputs> inputs = find_inputs(options.paths, now);
  if (!inputs) return fail(inputs.error().message);

  JobState job(options.job);
  ProgressLine progress(stderr);
  for (const std::string& warning : inputs->warnings)
    progress.say(fmt::format("faultline: warning: {}", warning));
  const auto noteworthy = std::make_shared<const AskedByCatalog>(catalog);
  const Source said{.job = options.job, .name = "", .host = options.host};
  const Folded folded =
      fold(inputs->files, said, noteworthy, now, options.boot_time, job, progress);
  progress.erase();
  if (folded.readable == 0) return fail("none of the files could be read");
  const Moment moment{.now = folded.newest, .live_sources = {}};
  const Diagnosis diagnosis = addressed(diagnose(job, catalog, moment), {});
  // Lines of other programs of a host have no known form, but may lead to a finding.
  const bool nothing_is_known =
      folded.recognized == 0 && diagnosis.root_causes.empty() && diagnosis.observations.empty();
  print(written(job, diagnosis, options));
  return nothing_is_known ? say_that_nothing_is_known(options, folded.lines)
                          : exit_status(diagnosis);
}

void add_diagnose_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "diagnose",
      "Read the log files of one job, and say what is wrong with it: which rank, host "
      "or GPU, and why");
  const auto options = std::make_shared<DiagnoseOptions>();
  command
      ->add_option("PATH", options->paths,
                   "Log files, folders, archives, compressed or not, or - for stdin")
      ->required()
      ->type_name("PATH");
  command->add_option("--job", options->job, "The job's name in the answer")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--host", options->host,
                   "The host of lines that name none (plain dmesg, for example)")
      ->type_name("NAME");
  command
      ->add_option_function<std::string>(
          "--boot-time",
          [options](const std::string& text) {
            options->boot_time = parse_boot_time(text);
            if (!options->boot_time)
              throw CLI::ValidationError(
                  "--boot-time", fmt::format("\"{}\" is not a time; write 2026-03-05T00:26:48Z, or "
                                             "seconds since 1970 (btime in /proc/stat)",
                                             text));
          },
          "When the host booted: gives a time to kernel lines that count the seconds since the "
          "boot")
      ->type_name("TIME");
  choose(command->add_option("--format", options->format, "How to print the answer"),
         {"text", "json", "markdown", "html"})
      ->capture_default_str();
  choose(
      command->add_option("--color", options->color,
                          "When to colour the text; auto: on a terminal, unless NO_COLOR is set"),
      {"auto", "always", "never"})
      ->capture_default_str();
  command->add_flag("--verbose", options->verbose,
                    "Print everything: every line of evidence, every step, the checks that passed "
                    "and what is not known (text only; JSON always has everything)");
  command->add_flag("--explain", options->explain,
                    "Add how the answer came about: which rules found what, and how sure each is "
                    "(text and JSON)");
  command->add_flag("--keep-secrets", options->keep_secrets,
                    "Show the passwords, tokens and keys in the logs; by default their letters are "
                    "replaced by stars");
  command
      ->add_option(
          "--rules", options->rules,
          "A folder with signature files of your own; a file with the name of a built-in one "
          "replaces it")
      ->type_name("DIR");
  command->footer(
      "Exit status: 0 nothing wrong was found, 1 a fault was found, 2 the logs could not be read, "
      "3 the logs are not enough to tell.");
  command->callback([options, &exit_code] { exit_code = run_diagnose(*options); });
}

}  // namespace faultline
