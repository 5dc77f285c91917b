#include "app/reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace faultline {
namespace {

// What a server that runs can follow, besides the tables.
constexpr std::array<std::string_view, 9> kFollowed{"alert-hold",   "alertmanager",  "external-url",
                                                    "keep-at-most", "keep-findings", "keep-jobs",
                                                    "keep-secrets", "rules",         "webhook"};

std::vector<std::string> kept_until_restart(const ReadSettings& at_start, const ReadSettings& now) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < now.values.size(); ++i)
    if (now.values[i] != at_start.values[i] &&
        std::ranges::find(kFollowed, now.values[i].first) == kFollowed.end())
      keys.push_back(now.values[i].first);
  return keys;
}

// A receiver that was there before has not become one that knows of nothing old.
void keep_what_is_news(const std::vector<Receiver>& before, std::vector<Receiver>& receivers) {
  for (Receiver& receiver : receivers)
    for (const Receiver& own : before)
      if (own.name == receiver.name)
        receiver.not_before = std::min(receiver.not_before, own.not_before);
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

void tell_of_expiry(const TlsKeys& tls) {
  constexpr std::chrono::hours kSoon{24 * 14};
  if (tls.expires() - std::chrono::system_clock::now() < kSoon)
    say(LogLevel::warning, "certificate-expires",
        "the certificate of --tls-cert expires soon; renew it, then send SIGHUP",
        {{"at", to_rfc3339(std::chrono::time_point_cast<Timestamp::duration>(tls.expires()))}});
}

void reload(const SettingsInForce& settings, const Reloadable& follows) {
  if (settings.read.options.config.empty()) return reload(follows.catalog, settings.read.options);
  try {
    ReadSettings now = read_settings(settings.given, settings.read.options.config);
    std::vector<Receiver> receivers = receivers_of(now.options.alerts, now.options.tables);
    RetentionSettings retention = retention_of(now.options);
    retention.lines = retention_of(settings.read.options).lines;
    keep_what_is_news(*follows.receivers.now(), receivers);
    const std::size_t count = receivers.size();
    follows.receivers.replace(receivers);
    follows.alerts.replace(std::move(receivers), external_url(now.options.alerts, follows.own_url));
    follows.retention.set(std::move(retention));
    say(LogLevel::info, "settings-read", "settings read again", {{"receivers", count}});
    if (const auto keys = kept_until_restart(settings.read, now); !keys.empty())
      say(LogLevel::warning, "settings-need-restart",
          "settings have changed that only a restart puts in force",
          {{"settings", fmt::format("{}", fmt::join(keys, ","))}});
    reload(follows.catalog, now.options);
  } catch (const std::exception& failure) {
    say(LogLevel::error, "settings-not-read", "settings and rules stay as they were",
        {{"why", failure.what()}});
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
