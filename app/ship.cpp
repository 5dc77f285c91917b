// faultline ship: sends logs to a server, and follows them.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/durations.h"
#include "app/server_url.h"
#include "app/sizes.h"
#include "client/url.h"
#include "http/query.h"
#include "logging/log.h"
#include "service/clock.h"
#include "ship/agent.h"
#include "ship/collect/kinds.h"

namespace faultline {
namespace {

struct ShipOptions {
  std::string to;
  std::vector<std::string> paths;
  std::string job;
  std::string host;
  std::string source;
  int rank = -1;
  bool follow = false;
  bool reads_here = false;
  bool kernel = false;
  bool final = false;
  std::string state;
  std::string since = "1d";
  std::string retry_for = "5m";
  std::string spool = "256MB";
  std::string token_file;
  std::string ca_file;
  std::string collect;
  bool collect_dry_run = false;
};

std::string own_host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string check_label(const std::string& text) {
  const auto good = check_name("the name", text);
  return good ? "" : good.error().message;
}

std::string check_kinds(const std::string& text) {
  const std::string unknown = choose_kinds(text).unknown;
  return unknown.empty() ? "" : fmt::format("there is no kind \"{}\"", unknown);
}

std::string list_of_kinds() {
  std::string text = "What --collect can switch on, and what it runs:\n";
  for (const CollectKind& kind : evidence_kinds())
    text += fmt::format("{}: {}.\n", kind.name, kind.runs);
  text.pop_back();
  return text;
}

// What is kept between runs: where systemd says, else where programs of this user keep such things.
std::filesystem::path default_state() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string given = variable("STATE_DIRECTORY"); !given.empty()) return given;
  if (geteuid() == 0) return "/var/lib/faultline-ship";
  const std::string state = variable("XDG_STATE_HOME");
  return state.empty() ? std::filesystem::path(variable("HOME")) / ".local/state/faultline-ship"
                       : std::filesystem::path(state) / "faultline-ship";
}

// A folder for this run only.
class TemporaryState {
 public:
  TemporaryState() {
    std::string name = (std::filesystem::temp_directory_path() / "faultline-ship-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error(fmt::format("cannot make a folder {}", name));
    folder_ = name;
  }
  ~TemporaryState() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryState(const TemporaryState&) = delete;
  TemporaryState& operator=(const TemporaryState&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

std::atomic<ShipAgent*> running_agent = nullptr;

void stop_agent(int) {
  if (ShipAgent* agent = running_agent.load()) agent->stop();
}

// Each log that is followed is open.
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// What is followed lies where it is written. Files that somebody collected may be of any host, and
// a wrong one would be accused of what is in them.
std::string host_of(const ShipOptions& options) {
  if (!options.host.empty()) return options.host;
  return options.follow || options.kernel ? own_host_name() : "";
}

ShipSettings settings_from(const ShipOptions& options, const std::filesystem::path& state) {
  const auto seconds = [](const std::string& text) {
    return std::chrono::duration_cast<std::chrono::seconds>(*setting_duration(text));
  };
  ShipSettings settings{.server = {.url = *parse_url(options.to),
                                   .ca_file = options.ca_file,
                                   .token_file = options.token_file},
                        .paths = {},
                        .kernel = options.kernel,
                        .follow = options.follow,
                        .reads_here = options.reads_here,
                        .final = options.final,
                        .job = options.job,
                        .host = host_of(options),
                        .rank = options.rank,
                        .source = options.source,
                        .state = state,
                        .spool = {},
                        .since = options.follow ? seconds(options.since) : std::chrono::seconds{},
                        .retry_for = seconds(options.retry_for),
                        .collect = {.kinds = choose_kinds(options.collect).names,
                                    .dry_run = options.collect_dry_run}};
  settings.spool.disk = *setting_size(options.spool);
  for (const std::string& path : options.paths) {
    if (path == "-") {
      settings.from_stdin = true;
      continue;
    }
    const bool is_pattern = path.find_first_of("*?[") != std::string::npos;
    if (!options.follow && !is_pattern && access(path.c_str(), R_OK) != 0)
      throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    settings.paths.push_back(path);
  }
  if (settings.source.empty())
    settings.source =
        (settings.host.empty() ? "" : settings.host + "/") + "stdin/" + to_rfc3339(utc_now());
  if (!options.collect.empty() && !options.follow)
    throw std::runtime_error("--collect needs --follow: evidence is asked for while a job runs");
  if (!settings.from_stdin && !settings.kernel && settings.paths.empty())
    throw std::runtime_error("say what to send: files, folders, - for stdin, or --kmsg");
  return settings;
}

int ship(const ShipOptions& options) {
  if (options.follow) set_log_format(LogFormat::logfmt);
  std::optional<TemporaryState> temporary;
  std::filesystem::path state = options.state;
  if (state.empty() && !options.follow) state = temporary.emplace().folder();
  if (state.empty()) state = default_state();
  allow_many_files();
  umask(S_IRWXG | S_IRWXO);  // logs may be for their owners only
  ShipAgent agent(settings_from(options, state));
  running_agent = &agent;
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, stop_agent);
  std::signal(SIGPIPE, SIG_IGN);
  const bool all_sent = agent.run();
  running_agent = nullptr;
  return all_sent || options.follow ? kExitGood : kExitError;
}

}  // namespace

void add_ship_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "ship", "Send logs to a server; with --follow also what is written to them from now on");
  auto options = std::make_shared<ShipOptions>();
  command
      ->add_option("PATH", options->paths,
                   "Files, folders, patterns such as '/logs/*.log' in quotes, or - for stdin")
      ->type_name("PATH");
  command->add_option("--to", options->to, "The server to send to")
      ->required()
      ->type_name("URL")
      ->check(CLI::Validator(wrong_server_url, ""));
  command
      ->add_option(
          "--job", options->job,
          "The job of the logs; by default what the environment of the process that writes "
          "a log says: FAULTLINE_JOB, SLURM_JOB_ID, RAY_JOB_ID and others")
      ->type_name("NAME")
      ->check(CLI::Validator(check_label, ""));
  command
      ->add_option("--host", options->host,
                   "The host of the logs; by default this host with --follow or "
                   "--kmsg, else what the logs themselves say")
      ->type_name("NAME")
      ->check(CLI::Validator(check_label, ""));
  command
      ->add_option("--rank", options->rank,
                   "The rank of the logs; by default what that environment says, if there is only "
                   "one such process")
      ->type_name("N")
      ->check(CLI::Validator(CLI::Range(0, 10'000'000)).description(""));
  command->add_option("--source", options->source, "The name of what comes from stdin")
      ->type_name("NAME")
      ->check(CLI::Validator(check_label, ""));
  command->add_flag("--follow", options->follow,
                    "Go on with what is written from now on, and with new files, through rotation "
                    "and truncation");
  command->add_flag(
      "--read-here", options->reads_here,
      "With --follow: read lines on this host, if the server would read them alike, and "
      "send what they say: for NCCL's calls about 1 % of the bytes");
  command->add_flag("--kmsg", options->kernel, "Send the kernel's messages, from /dev/kmsg");
  command->add_flag("--final", options->final, "Say that nothing will follow what is sent");
  command
      ->add_option("--state", options->state,
                   "The folder that holds how far each log was sent, and what a server could not "
                   "take yet; by default /var/lib/faultline-ship with --follow, and none without")
      ->type_name("DIR");
  command
      ->add_option("--since", options->since,
                   "With --follow: pass over files that did not change for this long; 0: none")
      ->type_name("DURATION")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](const std::string& text) { return wrong_duration(text, {.zero = "none"}); }, ""));
  command
      ->add_option("--retry-for", options->retry_for,
                   "Without --follow: give up if the server takes nothing for this long")
      ->type_name("DURATION")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](const std::string& text) {
            return wrong_duration(text, {.least = std::chrono::seconds{1}});
          },
          ""));
  command
      ->add_option(
          "--spool", options->spool,
          "Keep at most this much on the disk, packed, while the server is away; beyond it files "
          "wait unread")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](const std::string& text) { return wrong_size(text, "1MB", "none"); }, ""));
  command
      ->add_option(
          "--token-file", options->token_file,
          "A file with the token for a server that asks for one; it may be replaced meanwhile")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  command
      ->add_option("--ca-file", options->ca_file,
                   "A PEM file of authorities for https, besides the system's")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  command
      ->add_option(
          "--collect", options->collect,
          "With --follow: the kinds of evidence, or all, that the agent may collect on this "
          "host when the server asks for them; by default none")
      ->type_name("KIND,...")
      ->check(CLI::Validator(check_kinds, ""));
  command->add_flag("--collect-dry-run", options->collect_dry_run,
                    "Log what would be collected, and collect nothing");
  command->footer(list_of_kinds());
  command->callback([options, &exit_code] {
    try {
      exit_code = ship(*options);
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
