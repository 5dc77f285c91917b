// faultline serve: wires the service together, lowest first.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "alerts/delivery.h"
#include "alerts/routing.h"
#include "alerts/url.h"
#include "app/alert_options.h"
#include "app/commands.h"
#include "app/config_file.h"
#include "app/data_folder.h"
#include "app/durations.h"
#include "app/manual/command_help.h"
#include "app/sizes.h"
#include "http/access.h"
#include "http/audit.h"
#include "http/query.h"
#include "http/server.h"
#include "http/tls.h"
#include "logging/log.h"
#include "rules/knowledge/live_catalog.h"
#include "service/retention.h"

namespace faultline {
namespace {

// An alert whose finding is not seen any more goes on firing for so much longer than it takes to
// see that a log is silent: what comes back then never went.
constexpr std::chrono::minutes kKeepLonger{1};

constexpr const char* kLogfmt = "logfmt";
constexpr const char* kJson = "json";

struct ServeOptions {
  std::string listen = "127.0.0.1:8686";
  std::string data = "./faultline-data";
  std::string job;
  std::string rules;
  std::string body_idle_timeout = "1h";
  std::string stall_after = "2m";
  std::string rest_after = "10m";
  std::string resolve_after = "24h";
  AlertOptions alerts;
  ConfigTables receivers;
  std::size_t max_connections = 1024;
  std::vector<std::string> allowed_hosts;
  std::string min_free = "128MB";
  std::string keep_jobs = "90d";
  std::string keep_findings = "400d";
  std::string keep_at_most = "0";
  std::string keep_lines = "64MB";
  std::string shorten_after = "4MB";
  std::string tokens;
  TlsFiles tls;
  std::string log_format = kLogfmt;
  bool insecure = false;
  bool keep_secrets = false;
  std::string config;
  bool print_config = false;
  bool check_config = false;
};

LogFormat log_format_of(const ServeOptions& options) {
  return options.log_format == kJson ? LogFormat::json : LogFormat::logfmt;
}

struct ListenAddress {
  std::string host;
  unsigned short port = 0;
};

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

std::string check_listen(const std::string& text) {
  return listen_address(text) ? "" : "must be ADDRESS:PORT, such as 127.0.0.1:8686 or [::1]:8686";
}

std::chrono::seconds seconds_of(const std::string& text) {
  return std::chrono::ceil<std::chrono::seconds>(*setting_duration(text));
}

// Whoever left a unit out would lose jobs, not save room.
constexpr std::chrono::hours kLeastToKeep{1};
constexpr std::string_view kLeastToStore = "1MB";
constexpr std::string_view kLeastOfLines = "64KB";

std::string check_size(const std::string& text) { return wrong_size(text, "0", ""); }

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
        ->type_name("TIME")
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
      "on the disk and is loaded when it is asked for");
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
  add("--keep-jobs", options.keep_jobs, check_age, "TIME",
      "Delete a job when nothing has come for this long; what was found in it stays; 0: never");
  add("--keep-findings", options.keep_findings, check_age, "TIME",
      "Delete findings this long after they ended; 0: never");
  add(
      "--keep-at-most", options.keep_at_most,
      [](const std::string& text) { return wrong_size(text, kLeastToStore, "no limit"); }, "SIZE",
      "Delete the oldest jobs while the database is larger than this; jobs that received logs "
      "within the last hour stay; 0: no limit");
  add(
      "--keep-lines", options.keep_lines,
      [](const std::string& text) { return wrong_size(text, kLeastOfLines, "none"); }, "SIZE",
      "Keep the lines of each job's logs (not NCCL's lines of calls), the newest up to this size "
      "once compressed: to show what stands around evidence, and for `reanalyze`; 0: none");
  add("--shorten-after", options.shorten_after, check_size, "SIZE",
      "When the stored NCCL calls of a job take more than this, keep a summary of where each rank "
      "stands in their place; no answer changes");
}

void add_access_options(CLI::App& command, ServeOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* about) {
    command.add_option(name, value, about)->type_name("FILE")->group("Who may ask");
  };
  add("--tokens", options.tokens,
      "Require a token of this file for every request but /healthz, /readyz and the page's own "
      "files; `faultline token` writes its lines; SIGHUP reads it again");
  add("--tls-cert", options.tls.certificate,
      "Speak TLS only, with the certificate of this PEM file and those that issued it; SIGHUP "
      "reads it again");
  add("--tls-key", options.tls.key, "The PEM file of the certificate's private key");
  add("--tls-client-ca", options.tls.client_ca,
      "Require a client certificate that an authority of this PEM file issued; a client that sends "
      "no token has the rights of the line of --tokens that names its certificate");
  command
      .add_option("--allow-host", options.allowed_hosts,
                  "Also accept requests for this name (their Host header); localhost and IP "
                  "addresses are always accepted, and with --insecure on an open address any name "
                  "while none is given here")
      ->type_name("NAME")
      ->group("Who may ask");
  command
      .add_flag("--insecure", options.insecure,
                "Allow --listen on an address that others can reach without --tokens, or without "
                "TLS")
      ->group("Who may ask");
}

void add_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--listen", options.listen, "Where to listen; port 0 takes any that is free")
      ->check(CLI::Validator(check_listen, ""))
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command
      .add_option("--data", options.data,
                  "The folder of the database; it is made, with those above it, if it is not there")
      ->type_name("DIR")
      ->take_last()
      ->capture_default_str();
  command
      .add_option("--job", options.job, "The job of uploads that have no ?job= in their address")
      ->check(CLI::Validator(check_job, ""))
      ->type_name("NAME");
  command
      .add_option("--rules", options.rules,
                  "A folder with signature files of your own; one that is named as a built-in file "
                  "takes its place; SIGHUP reads it again")
      ->type_name("DIR");
  command
      .add_option("--max-connections", options.max_connections,
                  "Refuse more open connections than this, with 503")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--min-free", options.min_free,
                  "Refuse logs while less than this is free on the disk of --data")
      ->check(CLI::Validator(check_size, ""))
      ->type_name("SIZE")
      ->capture_default_str();
  command.add_flag(
      "--keep-secrets", options.keep_secrets,
      "Keep and show the passwords, tokens and keys that stand in logs; without it each of their "
      "letters becomes a star before anything is stored");
  command
      .add_option("--config", options.config,
                  "A TOML file of settings; its keys are the names of these options, and an option "
                  "on the command line wins")
      ->type_name("FILE")
      ->take_last();  // the unit's, and one in FAULTLINE_OPTIONS
  command.add_flag("--print-config", options.print_config, "Print the settings in force, and end");
  command.add_flag("--check-config", options.check_config,
                   "Check the settings, the files that they name and the folder of --data, and "
                   "end; a server that runs is not touched");
  choose(command.add_option("--log-format", options.log_format,
                            "The form of the lines in which the server tells of itself on stderr"),
         {kLogfmt, kJson})
      ->capture_default_str();
  add_times(command, options);
  add_keeping(command, options);
  add_alert_options(command, options.alerts);
  add_access_options(command, options);
}

Catalog catalog_of(const ServeOptions& options) {
  Catalog catalog = load_catalog(
      options.rules.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.rules));
  if (options.keep_secrets) catalog.secrets = std::make_shared<const Secrets>();
  return catalog;
}

// A folder that is being edited must not stop what runs.
void reload(LiveCatalog& catalog, const ServeOptions& options) {
  try {
    Catalog next = catalog_of(options);
    const std::size_t signatures = next.signatures->all().size();
    catalog.replace(std::move(next));
    say(LogLevel::info, "rules-read", "rules read again", {{"signatures", signatures}});
  } catch (const std::exception& failure) {
    say(LogLevel::error, "rules-not-read", "rules stay as they were", {{"why", failure.what()}});
  }
}

void reload(Access& access) {
  try {
    const std::size_t count = access.reload();
    say(count > 0 ? LogLevel::info : LogLevel::warning, "tokens-read",
        count > 0 ? "tokens read again" : "the file of tokens holds none: nobody is let in",
        {{"tokens", count}});
  } catch (const std::exception& failure) {
    say(LogLevel::error, "tokens-not-read", "tokens stay as they were", {{"why", failure.what()}});
  }
}

std::int64_t expiry_of(const TlsKeys& tls) {
  return std::chrono::duration_cast<std::chrono::seconds>(tls.expires().time_since_epoch()).count();
}

// Whoever renews a certificate at its last minute should hear of it before.
void tell_of_expiry(const TlsKeys& tls) {
  constexpr std::chrono::hours kSoon{24 * 14};
  if (tls.expires() - std::chrono::system_clock::now() < kSoon)
    say(LogLevel::warning, "certificate-expires",
        "the certificate of --tls-cert expires soon; renew it, then send SIGHUP",
        {{"at", to_rfc3339(std::chrono::time_point_cast<Timestamp::duration>(tls.expires()))}});
}

void reload(TlsKeys& tls, Metrics& metrics) {
  try {
    tls.reload();
    metrics.set_certificate_expiry(expiry_of(tls));
    say(LogLevel::info, "certificate-read", "certificate read again");
    tell_of_expiry(tls);
  } catch (const std::exception& failure) {
    say(LogLevel::error, "certificate-not-read", "the certificate stays as it was",
        {{"why", failure.what()}});
  }
}

std::unique_ptr<TlsKeys> keys_of(const ServeOptions& options) {
  const TlsFiles& files = options.tls;
  if (files.certificate.empty() && files.key.empty() && files.client_ca.empty()) return nullptr;
  if (files.certificate.empty() || files.key.empty())
    throw std::runtime_error("TLS needs both --tls-cert and --tls-key; name the other one, too");
  return std::make_unique<TlsKeys>(files);
}

// Loopback is for whoever is on this machine.
void refuse_open_address(const ServeOptions& options, const ListenAddress& listen) {
  if (options.insecure || boost::asio::ip::make_address(listen.host).is_loopback()) return;
  if (options.tokens.empty() && options.tls.client_ca.empty())
    throw std::runtime_error(fmt::format(
        "listen {}: others can reach this address and nothing would ask who they are; use "
        "127.0.0.1, or --tokens FILE, or --insecure if the network is trusted",
        options.listen));
  if (options.tls.certificate.empty())
    throw std::runtime_error(fmt::format(
        "listen {}: tokens and logs would cross the network for all to read; use --tls-cert and "
        "--tls-key, or --insecure if the network is trusted",
        options.listen));
}

AlertRouting routing_of(const ServeOptions& options, std::vector<Receiver> receivers) {
  const std::string& keep = options.alerts.keep;
  return {.route = [receivers = std::move(receivers)](
                       const AlertSubject& subject) { return route(receivers, subject); },
          .keep = keep.empty() ? seconds_of(options.stall_after) + kKeepLonger
                               : *setting_duration(keep)};
}

// Where only this machine reaches the server, or nobody is asked who they are, whoever comes under
// a name that is not known was sent by a page.
std::optional<ServerNames> host_names(const ServeOptions& options, const ListenAddress& listen) {
  const bool outside = !boost::asio::ip::make_address(listen.host).is_loopback();
  const bool open = options.tokens.empty() && options.tls.client_ca.empty();
  if (outside && !open && options.allowed_hosts.empty()) return std::nullopt;
  ServerNames known{.names = options.allowed_hosts, .any_without_dot = outside};
  if (const auto url = parse_url(options.alerts.external_url)) known.names.push_back(url->host);
  return known;
}

// Each connection has a descriptor; the rest are of the store, of alerts and of the standard.
void provide_descriptors(std::size_t connections) {
  constexpr rlim_t kOthers = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < connections + kOthers)
    throw std::runtime_error(fmt::format(
        "--max-connections {} needs {} descriptors, and the system allows {}; raise its "
        "limit (ulimit -n, LimitNOFILE=) or take fewer connections",
        connections, connections + kOthers, limit.rlim_cur));
}

// glibc takes larger and larger blocks from its heaps, where they leave holes around what stays: a
// few kilobytes of each job that rests. Large blocks go back to the system.
void keep_large_blocks_off_the_heaps() {
  constexpr int kLarge = 128 * 1024;
  mallopt(M_MMAP_THRESHOLD, kLarge);
}

// All that a start would refuse, but for what a server that runs may hold: the port, the database.
void check_config(const ServeOptions& options) {
  if (const std::string wrong = wrong_data_folder(options.data); !wrong.empty())
    throw std::runtime_error(fmt::format("data {}: {}", options.data, wrong));
  refuse_open_address(options, *listen_address(options.listen));
  if (!options.tokens.empty()) Access{options.tokens, !options.tls.client_ca.empty()};
  keys_of(options);
  const std::size_t receivers = receivers_of(options.alerts, options.receivers).size();
  const std::size_t signatures = catalog_of(options).signatures->all().size();
  fmt::print("the settings are good: {} receivers, {} signatures\n", receivers, signatures);
}

int run(Server& server) {
  try {
    server.run();
    say(LogLevel::info, "ended", "the server was told to end, and has ended");
    return 0;
  } catch (const std::exception& failure) {
    say(LogLevel::error, "ended", "the server has ended", {{"why", failure.what()}});
    return kExitError;
  }
}

// Returns the exit status; throws why it did not start.
int serve(const ServeOptions& options) {
  keep_large_blocks_off_the_heaps();
  const ListenAddress listen = *listen_address(options.listen);
  refuse_open_address(options, listen);
  // A client that goes away in mid-answer is an error of that write, no more.
  std::signal(SIGPIPE, SIG_IGN);
  provide_descriptors(options.max_connections);

  std::error_code error;
  std::filesystem::create_directories(options.data, error);
  if (error)
    throw std::runtime_error(
        fmt::format("data {}: cannot be made: {}", options.data, error.message()));
  std::unique_ptr<Access> access;
  if (!options.tokens.empty())
    access = std::make_unique<Access>(options.tokens, !options.tls.client_ca.empty());
  const std::unique_ptr<TlsKeys> tls = keys_of(options);
  AuditLog audit;
  std::vector<Receiver> receivers = receivers_of(options.alerts, options.receivers);
  LiveCatalog catalog(catalog_of(options));
  set_log_format(log_format_of(options));
  Store store(std::filesystem::path(options.data) / kDatabase);
  store.set_least_room(*setting_size(options.min_free));
  Metrics metrics;
  if (tls) metrics.set_certificate_expiry(expiry_of(*tls));
  const LiveSettings live{.stall_after = seconds_of(options.stall_after),
                          .resolve_after = seconds_of(options.resolve_after),
                          .rest_after = seconds_of(options.rest_after),
                          .shorten_after = *setting_size(options.shorten_after),
                          .keeps_lines = *setting_size(options.keep_lines) > 0};
  LiveJobs jobs(store, catalog, metrics, live);
  Retention retention(store, jobs, metrics,
                      {.jobs = seconds_of(options.keep_jobs),
                       .findings = seconds_of(options.keep_findings),
                       .bytes = *setting_size(options.keep_at_most),
                       .lines = *setting_size(options.keep_lines)});
  store.set_routing(routing_of(options, receivers));
  AlertDelivery alerts(store, {.receivers = std::move(receivers), .clock = utc_now});
  ChangeSignal changes;
  store.on_change([&] {
    alerts.wake();
    changes.signal();
  });
  Services services{.store = store,
                    .jobs = jobs,
                    .metrics = metrics,
                    .alerts = alerts,
                    .changes = changes,
                    .default_job = options.job,
                    .version = FAULTLINE_VERSION,
                    .data = options.data,
                    .least_room = *setting_size(options.min_free)};
  Server server({.address = listen.host,
                 .port = listen.port,
                 .max_connections = options.max_connections,
                 .tls = tls.get(),
                 .session = {.body_idle_limit = seconds_of(options.body_idle_timeout),
                             .host_names = host_names(options, listen),
                             .access = access.get(),
                             .audit = &audit},
                 .on_housekeeping =
                     [&] {
                       audit.say_what_was_left_out();
                       retention.apply(steady_now());  // first: it may make room
                       jobs.shorten_stored();
                     },
                 .on_hangup =
                     [&] {
                       reload(catalog, options);
                       if (access) reload(*access);
                       if (tls) reload(*tls, metrics);
                     }},
                services);
  say(LogLevel::info, "listening", fmt::format("listening on {}", server.url()),
      {{"version", FAULTLINE_VERSION}});
  if (tls) tell_of_expiry(*tls);
  alerts.start(external_url(options.alerts, server.url()));
  const int exit_code = run(server);
  alerts.stop();
  return exit_code;
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "serve", "Run the service: it takes logs over HTTP and answers what is wrong");
  auto options = std::make_shared<ServeOptions>();
  add_options(*command, *options);
  command->footer(
      "TIME is a number with a unit: 500ms, 90s, 5m, 1h, 7d. SIZE is a number of bytes, or one "
      "with KB, MB, GB or TB, in steps of 1024.\n"
      "Exit status: 0 SIGTERM or SIGINT ended it, 2 it could not start or a setting is wrong.");
  command->callback([command, options, &exit_code] {
    try {
      if (!options->config.empty())
        options->receivers = apply_config_file(*command, options->config);
      exit_code = 0;
      if (options->print_config)
        fmt::print("{}{}", config_of(*command), receivers_config(options->receivers));
      else if (options->check_config)
        check_config(*options);
      else
        exit_code = serve(*options);
    } catch (const std::exception& failure) {
      // To whoever started it; but who reads JSON gets nothing else.
      set_log_format(options->log_format == kJson ? LogFormat::json : LogFormat::plain);
      say(LogLevel::error, "not-started", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
