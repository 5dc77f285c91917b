// How a restarted job differs from its last start that got to work.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ranges>
#include <set>

#include "rules/detect/configuration/faults.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNamed = 4;

// The latest of the earlier attempts in which each member got to work; 0: none.
int last_that_worked(const View& view) {
  std::set<int> worked;
  std::set<int> failed;
  for (std::size_t i = 0; i < view.attempts.of_member.size(); ++i) {
    const int attempt = view.attempts.of_member[i];
    if (attempt >= view.attempt) continue;
    const Member& member = view.member(i);
    if (member.calls > 0) worked.insert(attempt);
    if (member.init && !member.complete && member.calls == 0) failed.insert(attempt);
  }
  for (const int attempt : worked | std::views::reverse)
    if (attempt > 0 && !failed.contains(attempt)) return attempt;
  return 0;
}

std::string listed(const std::set<std::string>& values) {
  constexpr std::size_t kMost = 3;
  if (values.size() > kMost) return fmt::format("{} different values", values.size());
  std::string text = fmt::format("{}", fmt::join(values, " or "));
  return text.empty() ? "none" : text;
}

std::string listed(const std::vector<std::string>& hosts) {
  if (hosts.size() > kMostNamed) return fmt::format("{} hosts", hosts.size());
  return fmt::format("{}", fmt::join(hosts, ", "));
}

bool any_begins(const std::set<std::string>& values, std::string_view with) {
  return std::ranges::any_of(values,
                             [&](const std::string& value) { return value.starts_with(with); });
}

std::ptrdiff_t devices_in(const std::set<std::string>& lists) {
  std::ptrdiff_t most = 0;
  for (const std::string& list : lists)
    most = std::max(most, list.empty() ? 0 : 1 + std::ranges::count(list, ' '));
  return most;
}

std::ptrdiff_t least(const std::set<std::string>& numbers) {
  std::ptrdiff_t smallest = PTRDIFF_MAX;
  for (const std::string& text : numbers) {
    std::ptrdiff_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc())
      smallest = std::min(smallest, number);
  }
  return smallest;
}

struct Meaning {
  Cause cause = Cause::none;
  Severity severity = Severity::info;
  Claim claim = Claim::config_other_since;
  std::string name;  // for people
};

// nullopt: it is no worse than before.
std::optional<Meaning> meaning_of(const View& view, const Change& change) {
  const std::string& question = change.question;
  if (question == "network used" || question == "network connected") {
    const bool fell_back = any_begins(change.now, "Socket") || change.now.contains("NET/Socket");
    if (fell_back)
      return Meaning{Cause::config_network_fallback, Severity::warning, Claim::config_lost_since,
                     "the network"};
    const bool was_sockets =
        change.before.contains("Socket") || change.before.contains("NET/Socket");
    if (was_sockets) return std::nullopt;
    return Meaning{Cause::config_environment_mismatch, Severity::info, Claim::config_other_since,
                   "the network"};
  }
  if (question.starts_with("gdr ")) {
    if (!change.now.contains("off") && !change.now.contains("disabled")) return std::nullopt;
    return Meaning{Cause::config_gdr_disabled, Severity::warning, Claim::config_lost_since,
                   "GPUDirect RDMA"};
  }
  if (question == "transport within") {
    if (any_begins(change.now, "P2P/") || !any_begins(change.before, "P2P/")) return std::nullopt;
    return Meaning{Cause::config_p2p_disabled, Severity::warning, Claim::config_lost_since,
                   "the path between GPUs of one host"};
  }
  if (question == "devices IB") {
    const auto lost = devices_in(change.before) - devices_in(change.now);
    // If no device is left, that is a matter of the network.
    if (lost < 0 || devices_in(change.now) == 0) return std::nullopt;
    return Meaning{
        Cause::config_environment_mismatch, lost > 0 ? Severity::warning : Severity::info,
        lost > 0 ? Claim::config_lost_since : Claim::config_other_since, "the list of NICs"};
  }
  if (question == "channels collective") {
    if (least(change.now) >= least(change.before)) return std::nullopt;
    return Meaning{Cause::config_environment_mismatch, Severity::warning, Claim::config_fewer_since,
                   "the number of channels"};
  }
  if (question == "nvls multicast") {
    if (!change.now.contains("not available")) return std::nullopt;
    return Meaning{Cause::config_environment_mismatch, Severity::warning, Claim::config_fewer_since,
                   "NVLink multicast"};
  }
  const ComparedSetting* setting = view.catalog.settings.find(question);
  if (setting == nullptr || setting->between == Between::nobody) return std::nullopt;
  std::string name =
      setting->name.empty() ? question.substr(question.find(' ') + 1) : setting->name;
  return Meaning{setting->cause, Severity::info, Claim::config_other_since, std::move(name)};
}

void add_lines_of_change(const View& view, const Change& change, Suspicion& suspicion) {
  const Setup& setup = view.job.setup();
  for (const std::string& host : change.hosts)
    for (const std::string& value : change.now) {
      add_setting_line(view, setup.line_of_answer(host, change.question, value), suspicion);
      for (Direction direction : {Direction::both, Direction::send, Direction::receive})
        for (bool gdr : {false, true})
          add_setting_line(view, setup.line_of_link(host, value, direction, gdr), suspicion);
    }
}

}  // namespace

std::optional<StartFingerprint> last_start_that_worked(const View& view) {
  const int attempt = last_that_worked(view);
  if (attempt == 0) return std::nullopt;
  return fingerprint_of(view.job.setup(), [&](const ProcessKey& process) {
    const auto known = view.attempts.of_process.find(process);
    return known != view.attempts.of_process.end() && known->second == attempt;
  });
}

std::vector<Suspicion> find_changes_since_last_start(const View& view) {
  const std::optional<StartFingerprint> before = last_start_that_worked(view);
  if (!before) return {};
  const StartFingerprint now = fingerprint_of(view.job.setup(), [&](const ProcessKey& process) {
    return view.attempts.of_process.contains(process) && view.in_attempt(process);
  });
  const std::vector<Change> changes = compare(now, *before);
  const bool chose_another =
      std::ranges::find(changes, "network used", &Change::question) != changes.end();
  std::vector<Suspicion> found;
  for (const Change& change : changes) {
    if (chose_another && change.question == "network connected") continue;  // follows from it
    const std::optional<Meaning> meaning = meaning_of(view, change);
    if (!meaning) continue;
    Suspicion& suspicion =
        found.emplace_back(configuration_fault(meaning->cause, meaning->severity, meaning->claim));
    suspicion.finding.subject.hosts = change.hosts;
    suspicion.finding.title =
        fmt::format("Since the last start: {} is {} on {}, and was {}", meaning->name,
                    listed(change.now), listed(change.hosts), listed(change.before));
    add_lines_of_change(view, change, suspicion);
  }
  return found;
}

}  // namespace faultline
