#include "app/reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/sizes.h"

namespace faultline {
namespace {

// Settings that a running server can change, besides the tables.
constexpr auto kFollowed = std::to_array<std::string_view>(
    {"alert-hold", "alertmanager", "keep-at-most", "keep-findings", "keep-jobs", "keep-lines",
     "keep-secrets", "memory", "min-free", "rules", "webhook"});

// The first lines of a source are kept or not from its first batch on.
bool begins_or_ends_keeping_lines(const ServeOptions& at_start, const ServeOptions& now) {
  return (*setting_size(at_start.keep_lines) > 0) != (*setting_size(now.keep_lines) > 0);
}

std::vector<std::string> kept_until_restart(const ReadSettings& at_start, const ReadSettings& now) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < now.values.size(); ++i)
    if (now.values[i] != at_start.values[i] &&
        std::ranges::find(kFollowed, now.values[i].first) == kFollowed.end())
      keys.push_back(now.values[i].first);
  if (begins_or_ends_keeping_lines(at_start.options, now.options)) keys.emplace_back("keep-lines");
  return keys;
}

// A receiver that was there before keeps its earlier not_before.
void keep_what_is_news(const std::vector<Receiver>& before, std::vector<Receiver>& receivers) {
  for (Receiver& receiver : receivers)
    for (const Receiver& own : before)
      if (own.name == receiver.name)
        receiver.not_before = std::min(receiver.not_before, own.not_before);
}

void replace(LiveCatalog& catalog, Catalog&& next) {
  const std::size_t signatures = next.signatures->all().size();
  catalog.replace(std::move(next));
  say(LogLevel::info, "rules-read", "rules read again", {{"signatures", signatures}});
}

// New receivers also get the findings that are open, as after a start.
void tell_of_what_is_open(const Reloadable& follows) {
  if (!follows.jobs.ready()) return;  // the start will judge all jobs
  std::set<std::string> open;
  FindingFilter filter{.state = FindingState::open};
  for (std::optional<std::uint64_t> next = 0; next;) {
    filter.after = *next;
    const FindingPage page = follows.store.findings(filter);
    for (const StoredFinding& finding : page.findings) open.insert(finding.job);
    next = page.next;
  }
  for (const std::string& job : open) follows.jobs.reconcile_anew(job);
}

ReadSettings read_again(const SettingsInForce& settings) {
  const std::string& file = settings.read.options.config;
  // Reading a pipe again could wait forever for a writer.
  if (!file.empty() && !std::filesystem::is_regular_file(file))
    throw std::runtime_error(
        fmt::format("{}: is not a regular file, so it cannot be read again", file));
  return read_settings(settings.given, file);
}

void follow(const Reloadable& follows, const SettingsInForce& settings, const ReadSettings& now,
            std::vector<Receiver> receivers) {
  keep_what_is_news(*follows.receivers.now(), receivers);
  const bool are_others = receivers != *follows.receivers.now();
  if (are_others) {
    follows.receivers.replace(receivers);
    follows.alerts.replace(receivers);
  }
  RetentionSettings retention = retention_of(now.options);
  if (begins_or_ends_keeping_lines(settings.read.options, now.options))
    retention.lines = retention_of(settings.read.options).lines;
  follows.retention.set(std::move(retention));
  follows.jobs.memory().set_most(memory_of(now.options));
  follows.store.set_least_room(*setting_size(now.options.min_free));
  say(LogLevel::info, "settings-read", "settings read again", {{"receivers", receivers.size()}});
  if (const auto keys = kept_until_restart(settings.read, now); !keys.empty())
    say(LogLevel::warning, "settings-need-restart", "some changed settings need a restart",
        {{"settings", fmt::format("{}", fmt::join(keys, ","))}});
  if (are_others) tell_of_what_is_open(follows);
}

}  // namespace

Catalog catalog_of(const ServeOptions& options) {
  Catalog catalog = load_catalog(
      options.rules.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.rules));
  if (options.keep_secrets) catalog.secrets = std::make_shared<const Secrets>();
  return catalog;
}

std::int64_t expiry_of(const TlsKeys& tls) {
  return std::chrono::duration_cast<std::chrono::seconds>(tls.expires().time_since_epoch()).count();
}

std::string expiry_text(const TlsKeys& tls) {
  return to_rfc3339(std::chrono::time_point_cast<Timestamp::duration>(tls.expires()));
}

void tell_of_expiry(const TlsKeys& tls) {
  constexpr std::chrono::hours kSoon{24 * 14};
  const auto left = tls.expires() - std::chrono::system_clock::now();
  if (left < kSoon)
    say(LogLevel::warning, "certificate-expires",
        left.count() > 0
            ? "the certificate of --tls-cert expires soon; renew it, then send SIGHUP"
            : "the certificate of --tls-cert has expired, and clients refuse it; renew "
              "it, then send SIGHUP",
        {{"at", expiry_text(tls)}});
}

void reload(const SettingsInForce& settings, const Reloadable& follows) {
  const char* event = "settings-not-read";
  SettingPlaces places;
  try {
    const ReadSettings now = read_again(settings);
    places = now.options.file.places;
    std::vector<Receiver> receivers = receivers_of(now.options.alerts, now.options.file.tables);
    retention_of(now.options);
    event = "rules-not-read";  // a folder that is being edited must not stop a running server
    replace(follows.catalog, catalog_of(now.options));
    if (!settings.read.options.config.empty()) follow(follows, settings, now, std::move(receivers));
  } catch (const std::exception& failure) {
    say(LogLevel::error, event, "settings and rules stay as they were",
        {{"why", places.with_place(failure.what())}});
  }
}

void reload(Access& access) {
  try {
    const std::size_t count = access.reload();
    say(count > 0 ? LogLevel::info : LogLevel::warning, "tokens-read",
        count > 0 ? "tokens read again"
                  : "the file of tokens holds no token: all requests are refused",
        {{"tokens", count}});
  } catch (const std::exception& failure) {
    say(LogLevel::error, "tokens-not-read", "tokens stay as they were", {{"why", failure.what()}});
  }
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

}  // namespace faultline
