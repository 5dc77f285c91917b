#include "app/serve_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "app/durations.h"
#include "app/manual/command_help.h"
#include "app/sizes.h"
#include "app/table_reader.h"
#include "http/query.h"
#include "service/process_use.h"

namespace faultline {
namespace {

constexpr const char* kLogfmt = "logfmt";
constexpr const char* kJson = "json";

std::string check_listen(const std::string& text) {
  return listen_address(text) ? "" : "must be ADDRESS:PORT, such as 127.0.0.1:8686 or [::1]:8686";
}

std::string check_syslog(const std::string& text) {
  return text.empty() || syslog_address(text)
             ? ""
             : "must be ADDRESS:PORT or PORT, such as 127.0.0.1:5514 or 5514";
}

// Somebody who forgot a unit would lose jobs, so very small values are refused.
constexpr std::chrono::hours kLeastToKeep{1};
constexpr std::string_view kLeastToStore = "1MB";
constexpr std::string_view kLeastOfLines = "64KB";
// The server needs some of it without any job.
constexpr std::string_view kLeastMemory = "64MB";

std::string check_size(const std::string& text) { return wrong_size(text, "0", ""); }

std::string check_memory(const std::string& text) {
  if (!text.ends_with('%')) return wrong_size(text, kLeastMemory, "no limit");
  return setting_size_or_share(text, 0) ? "" : "must be a share from 1% to 100%, or a size";
}

std::string check_job(const std::string& text) {
  const Result<void> good = check_name("the job's name", text);
  return text.empty() || good ? "" : good.error().message;
}

void add_times(CLI::App& command, ServeOptions& options) {
  const auto add = [&](const char* name, std::string& value, const DurationLimits& limits,
                       const char* about) {
    command.add_option(name, value, about)
        ->check(CLI::Validator(
            [limits](const std::string& text) { return wrong_duration(text, limits); }, ""))
        ->type_name("DURATION")
        ->group("How long it waits")
        ->capture_default_str();
  };
  constexpr DurationLimits kSomeTime{.least = std::chrono::seconds{1}};
  add("--stall-after", options.stall_after, {.zero = "at once"},
      "Wait this long after the last new line of a job's logs before naming a culprit; 0: do not "
      "wait");
  add("--resolve-after", options.resolve_after, kSomeTime,
      "Treat a job as ended, and resolve its findings, when nothing has come for this long");
  add("--rest-after", options.rest_after, {.zero = "at once"},
      "Unload a job from memory when nobody has sent to it or asked for it for this long; it stays "
      "on the disk and is loaded when somebody asks for it");
  add("--body-idle-timeout", options.body_idle_timeout, kSomeTime,
      "End an upload that sends nothing for this long");
}

void add_keeping(CLI::App& command, ServeOptions& options) {
  const auto add = [&](const char* name, std::string& value, auto check, const char* type,
                       const char* about) {
    command.add_option(name, value, about)
        ->check(CLI::Validator(check, ""))
        ->type_name(type)
        ->group("What it keeps")
        ->capture_default_str();
  };
  const auto check_age = [](const std::string& text) {
    return wrong_duration(text, {.least = kLeastToKeep, .zero = "for ever"});
  };
  add("--keep-jobs", options.keep_jobs, check_age, "DURATION",
      "Delete a job when nothing has come for this long; its findings stay; 0: never; "
      "[[keep]] tables of --config override this for some jobs");
  add("--keep-findings", options.keep_findings, check_age, "DURATION",
      "Delete findings this long after they ended; 0: never");
  add(
      "--keep-at-most", options.keep_at_most,
      [](const std::string& text) { return wrong_size(text, kLeastToStore, "no limit"); }, "SIZE",
      "Delete the oldest jobs while the database is larger than this; jobs that received logs "
      "within the last hour stay; 0: no limit");
  add(
      "--keep-lines", options.keep_lines,
      [](const std::string& text) { return wrong_size(text, kLeastOfLines, "none"); }, "SIZE",
      "Keep the newest log lines of each job (except NCCL calls), up to this size "
      "once compressed: to show the lines around evidence, and for `reanalyze`; 0: none");
  add("--shorten-after", options.shorten_after, check_size, "SIZE",
      "When the stored NCCL calls of a job take more than this, replace them by a summary of where "
      "each rank stands; when its reports of steps and counters that no answer needs any more take "
      "more, drop them; no answer changes");
}

void add_access_options(CLI::App& command, ServeOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* about) {
    command.add_option(name, value, about)->type_name("FILE")->group("Who may ask");
  };
  add("--tokens", options.tokens,
      "Require a token of this file for every request except /healthz, /readyz and the files of "
      "the page; `faultline token` writes the lines of the file; SIGHUP reads it again");
  add("--tls-cert", options.tls.certificate,
      "Speak TLS only, with the certificate in this PEM file, followed by those of its issuers; "
      "SIGHUP reads it again");
  add("--tls-key", options.tls.key, "The PEM file with the private key of the certificate");
  add("--tls-client-ca", options.tls.client_ca,
      "Require a client certificate that an authority in this PEM file issued; a client without a "
      "token has the rights of the line of --tokens that names its certificate");
  command
      .add_option("--allow-host", options.allowed_hosts,
                  "Also accept requests for this name (their Host header). localhost and IP "
                  "addresses are always accepted; on an address that others can reach, also names "
                  "without a dot, and with tokens any name if this option is not given")
      ->type_name("NAME")
      ->group("Who may ask");
  command
      .add_flag("--insecure", options.insecure,
                "Allow --listen on an address that others can reach without --tokens, or without "
                "TLS; and --syslog, without --tokens")
      ->group("Who may ask");
}

std::vector<KeptJobs> kept_jobs_of(const ConfigTables& all) {
  std::vector<KeptJobs> kept;
  std::size_t number = 0;
  for (const ConfigTable& from : all) {
    if (from.name != tables::kKeep) continue;
    TableReader table(from, tables::kKeep, "jobs", ++number);
    KeptJobs& some = kept.emplace_back();
    some.jobs = table.one("jobs");
    if (some.jobs.empty())
      table.fail("jobs", "is missing; name the jobs, such as jobs = \"nightly-*\"");
    const std::string age = table.duration("age", {.least = kLeastToKeep, .zero = "for ever"});
    if (!age.empty()) some.age = seconds_of(age);
    const std::string lines = table.one("lines");
    some.lines = setting_size(lines);
    if (!lines.empty() && !some.lines)
      table.fail("lines", "must be a size with a unit, such as \"16MB\"");
    if (!some.age && !some.lines)
      table.fail("age",
                 "is missing; say how long the jobs are kept, such as age = \"7d\", or how much of "
                 "their lines, such as lines = \"16MB\"");
    table.refuse_others();
  }
  return kept;
}

}  // namespace

LogFormat log_format_of(const ServeOptions& options) {
  return options.log_format == kJson ? LogFormat::json : LogFormat::logfmt;
}

// 127.0.0.1:8686, [::1]:8686, localhost:8686
std::optional<ListenAddress> listen_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  ListenAddress listen{text.substr(0, colon)};
  if (listen.host == "localhost") listen.host = "127.0.0.1";
  if (listen.host.starts_with('[') && listen.host.ends_with(']'))
    listen.host = listen.host.substr(1, listen.host.size() - 2);
  boost::system::error_code error;
  boost::asio::ip::make_address(listen.host, error);
  const char* end = text.data() + text.size();
  const auto [stop, bad] = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (error || bad != std::errc{} || stop != end) return std::nullopt;
  return listen;
}

std::optional<ListenAddress> syslog_address(const std::string& text) {
  const bool is_port = text.find(':') == std::string::npos;
  return listen_address(is_port ? "127.0.0.1:" + text : text);
}

std::chrono::seconds seconds_of(const std::string& text) {
  return std::chrono::ceil<std::chrono::seconds>(*setting_duration(text));
}

void add_serve_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--listen", options.listen, "Where to listen; port 0 takes a free port")
      ->check(CLI::Validator(check_listen, ""))
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command
      .add_option(
          "--syslog", options.syslog,
          "Also listen for syslog here, over TCP and UDP; a PORT alone is one of 127.0.0.1. "
          "Syslog has no tokens and no TLS: with --tokens only loopback is allowed")
      ->check(CLI::Validator(check_syslog, ""))
      ->type_name("ADDRESS:PORT");
  command
      .add_option("--data", options.data,
                  "The folder of the database; it is created if it does not exist")
      ->type_name("DIR")
      ->take_last()
      ->capture_default_str();
  command.add_option("--job", options.job, "The job of uploads without ?job= in their address")
      ->check(CLI::Validator(check_job, ""))
      ->type_name("NAME");
  command
      .add_option(
          "--rules", options.rules,
          "A folder with signature files of your own; a file with the name of a built-in one "
          "replaces it; SIGHUP reads the folder again")
      ->type_name("DIR");
  command
      .add_option("--max-connections", options.max_connections,
                  "Answer further connections with 503 if more than this are open")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--min-free", options.min_free,
                  "Refuse logs while less than this is free on the disk of --data")
      ->check(CLI::Validator(check_size, ""))
      ->type_name("SIZE")
      ->capture_default_str();
  command
      .add_option("--memory", options.memory,
                  "How much memory all jobs together may take: a size, or a share of what the "
                  "machine or its control group allows. Beyond it jobs are unloaded early, and "
                  "large ones are answered 503 until there is room; 0: no limit")
      ->check(CLI::Validator(check_memory, ""))
      ->type_name("SIZE|SHARE%")
      ->capture_default_str();
  command.add_flag("--keep-secrets", options.keep_secrets,
                   "Keep and show the passwords, tokens and keys in logs; by default each of their "
                   "letters becomes a star before anything is stored");
  command
      .add_option("--config", options.config,
                  "A TOML file of settings; its keys are the names of these options, and an option "
                  "on the command line wins; SIGHUP reads it again, and a line on stderr names "
                  "the settings that need a restart")
      ->type_name("FILE")
      ->take_last();  // the unit gives one, and FAULTLINE_OPTIONS may give another
  command.add_flag("--print-config", options.print_config, "Print the settings in force, and end");
  command.add_flag("--check-config", options.check_config,
                   "Check the settings, the files that they name and the folder of --data, and "
                   "end; a running server is not touched");
  choose(command.add_option("--log-format", options.log_format,
                            "The form of the server's own log on stderr"),
         {kLogfmt, kJson})
      ->capture_default_str();
  add_times(command, options);
  add_keeping(command, options);
  add_alert_options(command, options.alerts);
  add_access_options(command, options);
}

// A share is of what the machine allows, which may be very little.
std::uint64_t memory_of(const ServeOptions& options) {
  const std::uint64_t size = *setting_size_or_share(options.memory, allowed_memory());
  return size == 0 ? 0 : std::max(size, *setting_size(kLeastMemory));
}

RetentionSettings retention_of(const ServeOptions& options) {
  return {.of_some = kept_jobs_of(options.file.tables),
          .jobs = seconds_of(options.keep_jobs),
          .findings = seconds_of(options.keep_findings),
          .bytes = *setting_size(options.keep_at_most),
          .lines = *setting_size(options.keep_lines)};
}

Given given_to(const CLI::App& command) {
  Given given;
  for (const CLI::Option* option : command.get_options({}))
    if (option->count() > 0) given.emplace_back(option->get_single_name(), option->results());
  return given;
}

ReadSettings read_settings(const Given& given, const std::string& config) {
  ReadSettings read;
  CLI::App command;
  add_serve_options(command, read.options);
  for (const auto& [name, values] : given) {
    CLI::Option* option = command.get_option("--" + name);
    option->add_result(values);
    option->run_callback();
  }
  if (!config.empty()) read.options.file = apply_config_file(command, config);
  read.values = settings_of(command);
  return read;
}

}  // namespace faultline
