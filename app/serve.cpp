// faultline serve: wires the service together, lowest first.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "alerts/delivery.h"
#include "alerts/routing.h"
#include "app/commands.h"
#include "app/data_folder.h"
#include "app/durations.h"
#include "app/failure_text.h"
#include "app/reload.h"
#include "app/serve_options.h"
#include "app/sizes.h"
#include "client/url.h"
#include "http/access.h"
#include "http/audit.h"
#include "http/server.h"
#include "http/tls.h"
#include "logging/log.h"
#include "rules/knowledge/live_catalog.h"
#include "service/retention.h"

namespace faultline {
namespace {

// An alert whose finding is not seen any more keeps firing for so much longer than --stall-after:
// if the finding comes back by then, its alert never stopped.
constexpr std::chrono::minutes kKeepLonger{1};

std::unique_ptr<TlsKeys> keys_of(const ServeOptions& options) {
  const TlsFiles& files = options.tls;
  if (files.certificate.empty() && files.key.empty() && files.client_ca.empty()) return nullptr;
  if (files.certificate.empty() || files.key.empty())
    throw std::runtime_error("TLS needs both --tls-cert and --tls-key; give the other one, too");
  return std::make_unique<TlsKeys>(files);
}

// On loopback, only users of this machine reach the server.
void refuse_open_address(const ServeOptions& options, const ListenAddress& listen) {
  if (options.insecure || boost::asio::ip::make_address(listen.host).is_loopback()) return;
  if (options.tokens.empty() && options.tls.client_ca.empty())
    throw std::runtime_error(
        fmt::format("listen {}: others can reach this address without a token; use "
                    "127.0.0.1, or --tokens FILE, or --insecure if the network is trusted",
                    options.listen));
  if (options.tls.certificate.empty())
    throw std::runtime_error(fmt::format(
        "listen {}: tokens and logs would cross the network unencrypted; use --tls-cert and "
        "--tls-key, or --insecure if the network is trusted",
        options.listen));
}

// Whoever reaches the port of syslog may write to any job: it knows no tokens. Where tokens are
// asked for, --insecure does not allow this, because it may have been given for a proxy with TLS.
void refuse_open_syslog(const ServeOptions& options) {
  if (options.syslog.empty()) return;
  if (boost::asio::ip::make_address(syslog_address(options.syslog)->host).is_loopback()) return;
  if (!options.tokens.empty() || !options.tls.client_ca.empty())
    throw std::runtime_error(fmt::format(
        "syslog {}: others can reach this address, and syslog cannot carry tokens; use 127.0.0.1, "
        "with a relay on this machine, or let the senders use HTTP",
        options.syslog));
  if (!options.insecure)
    throw std::runtime_error(
        fmt::format("syslog {}: others can reach this address, and syslog has no tokens and no "
                    "TLS; use 127.0.0.1, or --insecure if the network is trusted",
                    options.syslog));
}

std::optional<SyslogOptions> syslog_of(const ServeOptions& options) {
  if (options.syslog.empty()) return std::nullopt;
  const ListenAddress at = *syslog_address(options.syslog);
  return SyslogOptions{
      .address = at.host, .port = at.port, .max_connections = options.max_connections};
}

AlertRouting routing_of(const ServeOptions& options, const LiveReceivers& receivers) {
  const std::string& keep = options.alerts.keep;
  return {.route = [&receivers](
                       const AlertSubject& subject) { return route(*receivers.now(), subject); },
          .keep = keep.empty() ? seconds_of(options.stall_after) + kKeepLonger
                               : *setting_duration(keep)};
}

// If only this machine reaches the server, or no tokens are asked for, a request under an unknown
// name comes from a page that attacks the server.
std::optional<ServerNames> host_names(const ServeOptions& options, const ListenAddress& listen) {
  const bool outside = !boost::asio::ip::make_address(listen.host).is_loopback();
  const bool open = options.tokens.empty() && options.tls.client_ca.empty();
  if (outside && !open && options.allowed_hosts.empty()) return std::nullopt;
  ServerNames known{.names = options.allowed_hosts, .any_without_dot = outside};
  if (const auto url = parse_url(options.alerts.external_url)) known.names.push_back(url->host);
  return known;
}

// Each connection has a descriptor; the others are for the store, alerts and standard streams.
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

// glibc takes larger and larger blocks from its heaps, where they leave holes around what stays (a
// few kilobytes of each resting job). With a fixed threshold, large blocks go back to the system.
void keep_large_blocks_off_the_heaps() {
  constexpr int kLarge = 128 * 1024;
  mallopt(M_MMAP_THRESHOLD, kLarge);
}

// Returns the number of receivers; throws if something is wrong with a table.
std::size_t check_tables(const ServeOptions& options) {
  retention_of(options);
  return receivers_of(options.alerts, options.file.tables).size();
}

// Checks all that a start would refuse, except what a running server may hold (the port, the
// database). Also refuses a certificate that has expired.
void check_config(const ServeOptions& options) {
  if (const std::string wrong = wrong_data_folder(options.data); !wrong.empty())
    throw std::runtime_error(fmt::format("data {}: {}", options.data, wrong));
  refuse_open_address(options, *listen_address(options.listen));
  refuse_open_syslog(options);
  if (!options.tokens.empty()) Access{options.tokens, !options.tls.client_ca.empty()};
  if (const auto tls = keys_of(options); tls && tls->expires() < std::chrono::system_clock::now())
    throw std::runtime_error(fmt::format("--tls-cert {}: it expired at {}; renew it",
                                         options.tls.certificate, expiry_text(*tls)));
  const std::size_t receivers = check_tables(options);
  const std::size_t signatures = catalog_of(options).signatures->all().size();
  fmt::print("the settings are good: {} receivers, {} signatures\n", receivers, signatures);
}

int run(Server& server) {
  try {
    server.run();
    say(LogLevel::info, "ended", "the server has ended, as requested");
    return 0;
  } catch (const std::exception& failure) {
    say(LogLevel::error, "ended", "the server has ended", {{"why", failure_text(failure)}});
    return kExitError;
  }
}

// Returns the exit status; throws why it did not start.
int serve(const SettingsInForce& settings) {
  const ServeOptions& options = settings.read.options;
  keep_large_blocks_off_the_heaps();
  const ListenAddress listen = *listen_address(options.listen);
  refuse_open_address(options, listen);
  refuse_open_syslog(options);
  // If a client goes away during an answer, only that write fails.
  std::signal(SIGPIPE, SIG_IGN);
  // SIGHUP reads settings again, and these are being read just now.
  std::signal(SIGHUP, SIG_IGN);
  provide_descriptors(options.max_connections * (options.syslog.empty() ? 1 : 2));

  std::error_code error;
  std::filesystem::create_directories(options.data, error);
  if (error)
    throw std::runtime_error(
        fmt::format("data {}: cannot be created: {}", options.data, error.message()));
  std::unique_ptr<Access> access;
  if (!options.tokens.empty())
    access = std::make_unique<Access>(options.tokens, !options.tls.client_ca.empty());
  const std::unique_ptr<TlsKeys> tls = keys_of(options);
  AuditLog audit;
  LiveReceivers receivers(receivers_of(options.alerts, options.file.tables));
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
                          .keeps_lines = *setting_size(options.keep_lines) > 0,
                          .memory = memory_of(options),
                          .marks = std::filesystem::path(options.data) / kReadingMarks};
  LiveJobs jobs(store, catalog, metrics, live);
  Retention retention(store, jobs, metrics, retention_of(options));
  store.set_routing(routing_of(options, receivers));
  AlertDelivery alerts(store, {.receivers = *receivers.now(), .clock = utc_now});
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
                    .asks_for_tokens = access != nullptr,
                    .version = FAULTLINE_VERSION,
                    .data = options.data};
  Server server({.address = listen.host,
                 .port = listen.port,
                 .max_connections = options.max_connections,
                 .tls = tls.get(),
                 .session = {.body_idle_limit = seconds_of(options.body_idle_timeout),
                             .host_names = host_names(options, listen),
                             .access = access.get(),
                             .audit = &audit},
                 .syslog = syslog_of(options),
                 .on_housekeeping =
                     [&] {
                       audit.say_what_was_left_out();
                       retention.apply(steady_now());  // first: it may make room
                       jobs.shorten_stored();
                     },
                 .on_hangup =
                     [&] {
                       reload(settings, {.catalog = catalog,
                                         .receivers = receivers,
                                         .alerts = alerts,
                                         .retention = retention,
                                         .store = store,
                                         .jobs = jobs});
                       if (access) reload(*access);
                       if (tls) reload(*tls, metrics);
                     }},
                services);
  say(LogLevel::info, "listening", fmt::format("listening on {}", server.url()),
      {{"version", FAULTLINE_VERSION}});
  if (const std::string syslog = server.syslog_address(); !syslog.empty())
    say(LogLevel::info, "listening", fmt::format("listening for syslog on {}", syslog));
  if (tls) tell_of_expiry(*tls);
  alerts.start(
      {.url = external_url(options.alerts, server.url()), .asks_for_token = access != nullptr});
  const int exit_code = run(server);
  alerts.stop();
  return exit_code;
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "serve", "Run the service: it takes logs over HTTP and says what is wrong");
  auto options = std::make_shared<ServeOptions>();
  add_serve_options(*command, *options);
  command->footer(
      "DURATION is a number with a unit: 500ms, 90s, 5m, 1h, 7d. SIZE is a number of bytes, or one "
      "with KB, MB, GB or TB, in steps of 1024.\n"
      "Exit status: 0 SIGTERM or SIGINT ended the server, 2 it could not start or a setting is "
      "wrong.");
  command->callback([command, options, &exit_code] {
    try {
      const Given given = given_to(*command);
      if (!options->config.empty()) options->file = apply_config_file(*command, options->config);
      exit_code = 0;
      if (options->print_config) {
        check_tables(*options);  // only tables without mistakes are printed
        fmt::print("{}", config_of(*command, options->file.tables));
      } else if (options->check_config)
        check_config(*options);
      else
        exit_code = serve({given, {*options, settings_of(*command)}});
    } catch (const std::exception& failure) {
      // In plain words, for the person who started it; but a log in JSON stays JSON.
      const LogFormat format = log_format_of(*options);
      set_log_format(format == LogFormat::json ? format : LogFormat::plain);
      say(LogLevel::error, "not-started", options->file.places.with_place(failure_text(failure)));
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
