// faultline serve: wires the service together, lowest first.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
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
#include "http/access.h"
#include "http/audit.h"
#include "http/query.h"
#include "http/server.h"
#include "http/tls.h"
#include "model/duration.h"
#include "rules/knowledge/live_catalog.h"
#include "service/retention.h"

namespace faultline {
namespace {

// An alert whose finding is not seen any more goes on firing for so much longer than it takes to
// see that a log is silent: what comes back then never went.
constexpr std::chrono::minutes kKeepLonger{1};

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
  bool insecure = false;
  bool keep_secrets = false;
  std::string config;
  bool print_config = false;
  bool check_config = false;
};

struct ListenAddress {
  std::string host;
  unsigned short port = 0;
};

// At least a second.
std::optional<std::chrono::seconds> duration_of(const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration || *duration < std::chrono::seconds{1}) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*duration);
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

std::string check_listen(const std::string& text) {
  return listen_address(text) ? "" : "must be ADDRESS:PORT, such as 127.0.0.1:8686 or [::1]:8686";
}

std::string check_duration(const std::string& text) {
  return duration_of(text) ? "" : "must be a duration such as 90s, 5m or 1h";
}

// None is a choice as well.
std::string check_patience(const std::string& text) {
  return parse_duration(text) ? "" : "must be a duration such as 0s, 90s or 5m";
}

std::chrono::seconds patience_of(const std::string& text) {
  return std::chrono::ceil<std::chrono::seconds>(*parse_duration(text));
}

// 0, 64KB, 128MB, 2GB
std::optional<std::uint64_t> size_of(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, bad] = std::from_chars(text.data(), end, number);
  if (bad != std::errc{} || number > (std::uint64_t{1} << 32U)) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  constexpr std::string_view kUnits[] = {"", "KB", "MB", "GB"};
  for (std::size_t i = 0; i < std::size(kUnits); ++i)
    if (unit == kUnits[i]) return number << 10U * i;
  return std::nullopt;
}

std::string check_size(const std::string& text) {
  return size_of(text) ? "" : "must be a size such as 0, 64KB, 128MB or 2GB";
}

std::string check_job(const std::string& text) {
  const Result<void> good = check_name("the job's name", text);
  return text.empty() || good ? "" : good.error().message;
}

void add_times(CLI::App& command, ServeOptions& options) {
  const auto add = [&](const char* name, std::string& value, auto check, const char* about) {
    command.add_option(name, value, about)
        ->check(CLI::Validator(check, ""))
        ->type_name("TIME")
        ->group("How long it waits")
        ->capture_default_str();
  };
  add("--stall-after", options.stall_after, check_patience,
      "Judge a job when its logs have said nothing new for this long; 0s: at once");
  add("--resolve-after", options.resolve_after, check_duration,
      "Take a job for ended, and its findings for over, when nothing has come for this long");
  add("--rest-after", options.rest_after, check_patience,
      "Take a job out of memory when nobody has sent to it or asked for it for this long; it stays "
      "on the disk and comes back when asked for");
  add("--body-idle-timeout", options.body_idle_timeout, check_duration,
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
  add("--keep-jobs", options.keep_jobs, check_patience, "TIME",
      "Forget a job when nothing has come for this long; what was found in it stays; 0s: never");
  add("--keep-findings", options.keep_findings, check_patience, "TIME",
      "Forget findings this long after they ended; 0s: never");
  add("--keep-at-most", options.keep_at_most, check_size, "SIZE",
      "Forget the oldest jobs while more than this is stored, but none of which something came "
      "within the last hour; 0: no limit");
  add("--keep-lines", options.keep_lines, check_size, "SIZE",
      "Keep the lines of a job but its calls, the latest up to so much once compressed, to show "
      "what stands around evidence and to read them again with newer rules; 0: none");
  add("--shorten-after", options.shorten_after, check_size, "SIZE",
      "Store what a job's calls came to in place of the calls, when these take so much");
}

void add_access_options(CLI::App& command, ServeOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* about) {
    command.add_option(name, value, about)->type_name("FILE")->group("Who may ask");
  };
  add("--tokens", options.tokens,
      "Ask every request but /healthz, /readyz and the page's own files for a token of this file, "
      "which `faultline token` writes; SIGHUP reads it again");
  add("--tls-cert", options.tls.certificate,
      "Speak TLS only, with the certificate of this PEM file and those that issued it; SIGHUP "
      "reads "
      "it again");
  add("--tls-key", options.tls.key, "The PEM file of the certificate's private key");
  add("--tls-client-ca", options.tls.client_ca,
      "Ask clients for a certificate that an authority of this PEM file issued; who shows no token "
      "has the one of --tokens that names it");
  command
      .add_option("--allow-host", options.allowed_hosts,
                  "Answer requests for this name, too, besides localhost and addresses; with "
                  "--insecure on an open address any name is allowed unless one is given")
      ->type_name("NAME")
      ->group("Who may ask");
  command
      .add_flag(
          "--insecure", options.insecure,
          "Listen on an address that others can reach although nobody is asked for a token or "
          "a certificate, or although nothing is encrypted")
      ->group("Who may ask");
}

void add_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--listen", options.listen, "Where to listen; port 0 takes any that is free")
      ->check(CLI::Validator(check_listen, ""))
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command
      .add_option("--data", options.data,
                  "The folder of the database; it is made if it is not there")
      ->type_name("DIR")
      ->take_last()
      ->capture_default_str();
  command.add_option("--job", options.job, "The job of uploads that name none")
      ->check(CLI::Validator(check_job, ""))
      ->type_name("NAME");
  command
      .add_option(
          "--rules", options.rules,
          "A folder of your own signatures, and of files that replace those of the built-in "
          "catalog by name; SIGHUP reads it again")
      ->type_name("DIR");
  command
      .add_option("--max-connections", options.max_connections,
                  "How many connections may be open; further ones are answered 503")
      ->check(CLI::Range(1, 1'000'000).description(""))
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
      "Keep and show the passwords, tokens and keys that stand in logs; otherwise they "
      "are replaced by stars before anything is kept");
  command
      .add_option("--config", options.config,
                  "A TOML file of settings; its keys are the names of these options, and an option "
                  "on the command line wins")
      ->type_name("FILE")
      ->take_last();  // the unit's, and one in FAULTLINE_OPTIONS
  command.add_flag("--print-config", options.print_config, "Print the settings in force, and end");
  command.add_flag("--check-config", options.check_config,
                   "Check the settings and every file that they name, and end");
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
    fmt::print(stderr, "rules read again: {} signatures are in force\n", signatures);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "rules stay as they were: {}\n", failure.what());
  }
}

void reload(Access& access) {
  try {
    fmt::print(stderr, "tokens read again: {} are in force\n", access.reload());
  } catch (const std::exception& failure) {
    fmt::print(stderr, "tokens stay as they were: {}\n", failure.what());
  }
}

std::int64_t expiry_of(const TlsKeys& tls) {
  return std::chrono::duration_cast<std::chrono::seconds>(tls.expires().time_since_epoch()).count();
}

// Whoever renews a certificate at its last minute should hear of it before.
void tell_of_expiry(const TlsKeys& tls) {
  constexpr std::chrono::hours kSoon{24 * 14};
  if (tls.expires() - std::chrono::system_clock::now() < kSoon)
    fmt::print(stderr, "the certificate of --tls-cert expires at {}; renew it, then send SIGHUP\n",
               to_rfc3339(std::chrono::time_point_cast<Timestamp::duration>(tls.expires())));
}

void reload(TlsKeys& tls, Metrics& metrics) {
  try {
    tls.reload();
    metrics.set_certificate_expiry(expiry_of(tls));
    fmt::print(stderr, "certificate read again\n");
    tell_of_expiry(tls);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "the certificate stays as it was: {}\n", failure.what());
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
          .keep = keep.empty() ? patience_of(options.stall_after) + kKeepLonger
                               : *parse_duration(keep)};
}

// Where only this machine reaches the server, whoever comes under another name was sent by a page.
std::optional<std::vector<std::string>> host_names(const ServeOptions& options,
                                                   const ListenAddress& listen) {
  if (!boost::asio::ip::make_address(listen.host).is_loopback() && options.allowed_hosts.empty())
    return std::nullopt;
  std::vector<std::string> names = options.allowed_hosts;
  if (const auto outside = parse_url(options.alerts.external_url)) names.push_back(outside->host);
  return names;
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

// All that a start would refuse, but for the data, which a server that runs may hold.
void check_config(const ServeOptions& options) {
  refuse_open_address(options, *listen_address(options.listen));
  if (!options.tokens.empty()) Access{options.tokens, !options.tls.client_ca.empty()};
  keys_of(options);
  const std::size_t receivers = receivers_of(options.alerts, options.receivers).size();
  const std::size_t signatures = catalog_of(options).signatures->all().size();
  fmt::print("the settings are good: {} receivers, {} signatures\n", receivers, signatures);
}

void serve(const ServeOptions& options) {
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
  Store store(std::filesystem::path(options.data) / kDatabase);
  store.set_least_room(*size_of(options.min_free));
  Metrics metrics;
  if (tls) metrics.set_certificate_expiry(expiry_of(*tls));
  const LiveSettings live{.stall_after = patience_of(options.stall_after),
                          .resolve_after = *duration_of(options.resolve_after),
                          .rest_after = patience_of(options.rest_after),
                          .shorten_after = *size_of(options.shorten_after),
                          .keeps_lines = *size_of(options.keep_lines) > 0};
  LiveJobs jobs(store, catalog, metrics, live);
  Retention retention(store, jobs, metrics,
                      {.jobs = patience_of(options.keep_jobs),
                       .findings = patience_of(options.keep_findings),
                       .bytes = *size_of(options.keep_at_most),
                       .lines = *size_of(options.keep_lines)});
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
                    .least_room = *size_of(options.min_free)};
  Server server({.address = listen.host,
                 .port = listen.port,
                 .max_connections = options.max_connections,
                 .tls = tls.get(),
                 .session = {.body_idle_limit = *duration_of(options.body_idle_timeout),
                             .host_names = host_names(options, listen),
                             .access = access.get(),
                             .audit = &audit},
                 .on_housekeeping =
                     [&] {
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
  fmt::print(stderr, "listening on {}\n", server.url());
  if (tls) tell_of_expiry(*tls);
  alerts.start(external_url(options.alerts, server.url()));
  server.run();
  alerts.stop();
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "serve", "Run the service: it takes logs over HTTP and answers what is wrong");
  auto options = std::make_shared<ServeOptions>();
  add_options(*command, *options);
  command->footer(
      "Exits 0 when SIGTERM or SIGINT ended it, and 2 when it could not start or its settings are "
      "wrong.");
  command->callback([command, options, &exit_code] {
    try {
      if (!options->config.empty())
        options->receivers = apply_config_file(*command, options->config);
      if (options->print_config)
        fmt::print("{}{}", config_of(*command), receivers_config(options->receivers));
      else if (options->check_config)
        check_config(*options);
      else
        serve(*options);
      exit_code = 0;
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
