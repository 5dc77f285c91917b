#include "parsers/torch/torch_watchdog.h"

#include <limits>
#include <string>

#include "parsers/pattern.h"
#include "parsers/torch/torch_group.h"

namespace faultline {

namespace {

constexpr auto kNowhere = std::string_view::npos;

bool has(std::string_view text, std::string_view literal) { return text.find(literal) != kNowhere; }

// The largest size_t means "not set".
std::optional<std::uint64_t> element_count(std::string_view digits) {
  const auto count = number_in<std::uint64_t>(digits);
  return count == std::numeric_limits<std::uint64_t>::max() ? std::nullopt : count;
}

std::string_view without_blanks_in_front(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

}  // namespace

bool parse_torch_timeout(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kWork(
      R"(Work[A-Z]*\(SeqNum=(\d+), OpType=(\w+)(?:, NumelIn=(\d+), NumelOut=(\d+)|, NumelIn=(\d+))?)");
  static const Pattern kLimit(R"(Timeout\(ms\)=(\d+))");
  static const Pattern kRan(R"(ran for (\d+) milliseconds)");
  const bool caught = has(text, "Watchdog caught collective operation timeout");
  const bool blocking = has(text, " timed out in blocking wait");
  const std::string_view bare = without_blanks_in_front(text);
  // Some logs have a line break after "timeout:".
  const bool wrapped = bare.starts_with("Work") && bare.find(')') != kNowhere;
  if (!caught && !blocking && !wrapped) return false;
  if (has(text, "raised the following async exception")) return false;
  std::string_view sequence;
  std::string_view operation;
  std::string_view in;
  std::string_view out;
  std::string_view only_in;
  if (!kWork.find(text, &sequence, &operation, &in, &out, &only_in)) return caught || blocking;
  std::string_view ran;
  // Without its end the line may be cut anywhere.
  if (!kRan.find(text, &ran) && !blocking && !wrapped) return true;
  WatchdogTimeout timeout{.group = torch_group_of(text),
                          .sequence = number_in<std::uint64_t>(sequence),
                          .operation = std::string(operation),
                          .numel_in = element_count(in.empty() ? only_in : in),
                          .numel_out = element_count(out),
                          .blocking = blocking};
  if (std::string_view limit; kLimit.find(text, &limit))
    timeout.timeout_ms = number_in<std::int64_t>(limit);
  timeout.ran_ms = number_in<std::int64_t>(ran);
  readings.push_back({.fact = std::move(timeout)});
  return true;
}

bool is_whole_torch_timeout(std::string_view text) {
  static const Pattern kWhole(
      R"(^Watchdog caught collective operation timeout:\s*Work[A-Z]*\(SeqNum=\d+, OpType=[A-Z0-9_]+(?:, \w+(?:\(ms\))?=\d+)*(?:\) ran for \d+ milliseconds|(?:, \.\.\.)?\)$))");
  const std::size_t begin = text.find("Watchdog caught collective operation timeout:");
  return begin != kNowhere && kWhole.find(text.substr(begin));
}

bool parse_torch_status(std::string_view text, std::vector<Reading>& readings) {
  // From 2.6 on; newer versions also say what was started.
  static const Pattern kFailure(
      R"(failure detected by watchdog at work sequence id: (\d+) PG status: last enqueued work: (-?\d+),(?:.*?last started work: (-?\d+),)?.*? ?last completed work: (-?\d+))");
  static const Pattern kOlder(
      R"((?:detected by watchdog at work|Timeout at NCCL work): (\d+), last enqueued NCCL work: (-?\d+), last completed NCCL work: (-?\d+))");
  static const Pattern kProgress(
      R"(NCCL Work update periodically: .*?last enqueued NCCL work: (-?\d+), last completed NCCL work: (-?\d+))");
  std::string_view failed;
  std::string_view enqueued;
  std::string_view started;
  std::string_view completed;
  WatchdogStatus status{.teller = "failure"};
  if (!kFailure.find(text, &failed, &enqueued, &started, &completed) &&
      !kOlder.find(text, &failed, &enqueued, &completed)) {
    if (!kProgress.find(text, &enqueued, &completed)) return false;
    failed = {};
    status.teller = "progress";
  }
  status.group = torch_group_of(text);
  status.failed = number_in<std::uint64_t>(failed);
  status.enqueued = number_in<std::int64_t>(enqueued);
  status.started = number_in<std::int64_t>(started);
  status.completed = number_in<std::int64_t>(completed);
  readings.push_back({.fact = std::move(status)});
  return true;
}

bool parse_torch_dump_signal(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kReceived(
      R"(Received a (?:global timeout|dump signal)(?: due to a collective timeout)? from (?:(this local rank)|another rank| ?rank (-?\d+)))");
  static const Pattern kNumbers(
      R"(Last enqueued NCCL work: (-?\d+), last completed NCCL work: (-?\d+))");
  DumpSignal signal{.group = torch_group_of(text), .from = "other"};
  if (std::string_view self, rank; kReceived.find(text, &self, &rank)) {
    if (!self.empty()) signal.from = "self";
    signal.from_rank = rank_in(rank).value_or(-1);
  } else if (has(text, "First PG on this rank to signal dumping")) {
    signal.from = "self";
  } else if (!has(text, "Observed flight recorder dump signal from another rank")) {
    return false;
  }
  WatchdogStatus status{.group = signal.group, .teller = "signal"};
  readings.push_back({.fact = std::move(signal)});
  if (std::string_view enqueued, completed; kNumbers.find(text, &enqueued, &completed)) {
    status.enqueued = number_in<std::int64_t>(enqueued);
    status.completed = number_in<std::int64_t>(completed);
    readings.push_back({.fact = std::move(status)});
  }
  return true;
}

bool parse_torch_stuck(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kStuck(R"(watchdog got stuck for (\d+) seconds)");
  WatchdogStuck stuck{.group = torch_group_of(text)};
  if (std::string_view seconds; kStuck.find(text, &seconds))
    stuck.seconds = number_in<std::int64_t>(seconds).value_or(0);
  else if (has(text, "Could not acquire GIL within"))
    stuck.gil = true;
  else if (!has(text, "Heartbeat monitor timed out!"))
    return false;
  readings.push_back({.fact = std::move(stuck)});
  return true;
}

}  // namespace faultline
