#include "rules/state/torch.h"

#include <algorithm>

#include "rules/state/sources.h"

namespace faultline {
namespace {

// Limits, because a hostile log could print any number.
constexpr std::size_t kMostRanks = 65536;
constexpr std::size_t kMostTimeouts = 16;  // of one rank
constexpr std::size_t kMostGroups = 64;
constexpr std::size_t kMostSaid = 16;
constexpr std::size_t kMostWholeTracebacks = 4096;  // of the job; others keep their last line
constexpr std::size_t kMostLines = 4096;            // of each other kind
constexpr std::size_t kMostExitedRanks = std::size_t{1} << 18;
constexpr std::size_t kMostTextBytes = 1024;

bool is_default(const TorchGroup& group) {
  return group.description == "default_pg" || (group.id == 0 && group.name == "0");
}

template <class Fact>
void keep(std::vector<TorchLine<Fact>>& lines, const Fact& fact, LineRef line) {
  if (lines.size() < kMostLines) lines.push_back({fact, std::move(line)});
}

// Horovod repeats each minute which ranks are waited for, as long as it is so: a line for each
// tensor, or one list.
void forget_earlier_report(std::vector<TorchLine<DesyncEntry>>& told, std::uint32_t source,
                           std::uint64_t line) {
  constexpr std::uint64_t kWithinAReport = 2;  // lines from one of its entries to the next
  const auto is_of_source = [&](const TorchLine<DesyncEntry>& known) {
    return known.fact.what == "not_submitted" && known.line.source == source;
  };
  const auto last = std::ranges::find_if(told.rbegin(), told.rend(), is_of_source);
  if (last != told.rend() && line > last->line.line + kWithinAReport)
    std::erase_if(told, is_of_source);
}

// "[Rank 3] NCCL watchdog thread terminated": in old versions, the only sign of the rank.
int rank_in_front(std::string_view text) {
  constexpr std::string_view kBefore = "[Rank ";
  constexpr std::size_t kMostDigits = 6;
  if (!text.starts_with(kBefore)) return -1;
  text.remove_prefix(kBefore.size());
  int rank = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && digits < kMostDigits && text[digits] >= '0' && text[digits] <= '9';
       ++digits)
    rank = rank * 10 + (text[digits] - '0');
  return digits > 0 && text.substr(digits).starts_with("]") ? rank : -1;
}

bool is_labelled(const TorchRank& rank) { return !rank.guessed && rank.rank >= 0; }

std::tuple<std::uint32_t, std::optional<std::uint64_t>, std::string> what_repeats_say(
    const TorchTimeout& known) {
  return {known.line.source, known.timeout.sequence, known.timeout.operation};
}

void add_standing(TorchRank& rank, const WatchdogStatus& status, LineRef line) {
  // The line of the timeout names only the rank; the next one names the group.
  if (status.failed)
    for (TorchTimeout& known : rank.timeouts)
      if (known.timeout.group.name.empty() && known.timeout.sequence == status.failed)
        known.timeout.group = status.group;
  const std::string& name = status.group.name;
  if (name.empty() && status.group.id > 0) return;  // it is not known which of several groups it is
  if (rank.standings.size() == kMostGroups && !rank.standings.contains(name)) return;
  TorchStanding& standing = rank.standings[name];
  standing.description = status.group.description;
  standing.group_rank = status.group.rank;
  standing.enqueued = status.enqueued;
  // PyTorch 2.3 printed garbage if nothing had completed.
  standing.completed = status.completed;
  if (standing.completed && standing.enqueued && *standing.completed > *standing.enqueued)
    standing.completed.reset();
  standing.line = std::move(line);
}

}  // namespace

void Torch::add_timeout(TorchRank& rank, const WatchdogTimeout& timeout, LineRef line) {
  // Each timeout is reported two or three times.
  for (const TorchTimeout& known : rank.timeouts)
    if (known.timeout.sequence == timeout.sequence && known.timeout.operation == timeout.operation)
      return;
  if (rank.timeouts.size() == kMostTimeouts) return;
  rank.timeouts.push_back({timeout, std::move(line)});
  if (is_labelled(rank)) labelled_timeouts_.insert(what_repeats_say(rank.timeouts.back()));
}

// "what():  [Rank 3] Watchdog caught": the end of a process repeats its watchdog's message
// without the label; the number is then its rank in some group.
bool Torch::repeats(std::uint32_t source, const WatchdogTimeout& timeout) const {
  return labelled_timeouts_.contains({source, timeout.sequence, timeout.operation});
}

TorchRank* Torch::rank_at(std::uint32_t source, const Source& origin, const Speaker& speaker,
                          const TorchGroup& group) {
  int number = speaker.rank >= 0 ? speaker.rank : origin.rank;
  bool guessed = false;
  if (number < 0 && group.rank >= 0) {
    number = group.rank;
    guessed = !is_default(group);
  }
  const Key key(number, number < 0 ? origin.name : std::string());
  auto known = ranks_.find(key);
  if (known == ranks_.end()) {
    if (ranks_.size() == kMostRanks) {
      ++left_out_;
      return nullptr;
    }
    known =
        ranks_.emplace(key, TorchRank{.rank = number, .guessed = guessed, .source = source}).first;
  }
  TorchRank& rank = known->second;
  if (rank.guessed && !guessed) {
    rank.guessed = false;
    if (is_labelled(rank))
      for (const TorchTimeout& timeout : rank.timeouts)
        labelled_timeouts_.insert(what_repeats_say(timeout));
  }
  if (rank.host.empty()) rank.host = short_host(speaker.host.empty() ? origin.host : speaker.host);
  return &rank;
}

void Torch::say(TorchRank& rank, std::string text, const PythonException* exception, LineRef line) {
  text.resize(std::min(text.size(), kMostTextBytes));
  for (TorchSaying& known : rank.said)
    if (known.text == text && known.exception.has_value() == (exception != nullptr)) {
      known.last = std::move(line);
      return;
    }
  // Of many, the first show what began, and the last shows how it ended.
  if (rank.said.size() == kMostSaid) {
    if (rank.said.back().exception || exception != nullptr) return;
    rank.said.pop_back();
  }
  TorchSaying& saying = rank.said.emplace_back();
  saying.text = std::move(text);
  saying.line = std::move(line);
  saying.last = saying.line;
  if (exception == nullptr) return;
  saying.exception = *exception;
  if (whole_tracebacks_ == kMostWholeTracebacks)
    saying.exception->lines.clear();
  else
    ++whole_tracebacks_;
}

void Torch::apply(std::uint32_t source, const Source& origin, const Batch& batch,
                  const Event& event) {
  const Speaker& speaker = batch.speakers[event.speaker];
  const auto line = [&] {
    return LineRef{source, event.line, event.offset, event.time, event.text};
  };
  const auto at = [&](const TorchGroup& group) { return rank_at(source, origin, speaker, group); };
  if (const auto* timeout = std::get_if<WatchdogTimeout>(&event.fact)) {
    if (speaker.rank < 0 && origin.rank < 0 && repeats(source, *timeout)) return;
    if (TorchRank* rank = at(timeout->group)) add_timeout(*rank, *timeout, line());
  } else if (const auto* status = std::get_if<WatchdogStatus>(&event.fact)) {
    if (TorchRank* rank = at(status->group)) add_standing(*rank, *status, line());
  } else if (const auto* signal = std::get_if<DumpSignal>(&event.fact)) {
    TorchRank* rank = at(signal->group);
    if (rank == nullptr) return;
    if (!rank->signalled) rank->signalled = line();
    if (rank->told_by < 0) rank->told_by = signal->from_rank;
  } else if (const auto* stuck = std::get_if<WatchdogStuck>(&event.fact)) {
    TorchRank* rank = at(stuck->group);
    if (rank == nullptr) return;
    if (!rank->stuck) rank->stuck = line();
    rank->gil |= stuck->gil;
  } else if (const auto* exception = std::get_if<PythonException>(&event.fact)) {
    std::string text = exception->type;
    if (!exception->message.empty()) text += ": " + exception->message;
    if (TorchRank* rank = at({})) say(*rank, std::move(text), exception, line());
  } else if (const auto* remark = std::get_if<Remark>(&event.fact)) {
    if (remark->dialect != "torch") return;
    if (TorchRank* rank = at({.rank = rank_in_front(remark->text)}))
      say(*rank, remark->text, nullptr, line());
  } else if (const auto* exit = std::get_if<ProcessExit>(&event.fact)) {
    exited_ranks_ += exit->ranks.size();
    if (exited_ranks_ <= kMostExitedRanks) keep(exits_, *exit, line());
  } else if (const auto* called = std::get_if<CalledCollective>(&event.fact)) {
    keep(called_, *called, line());
  } else if (const auto* entry = std::get_if<DesyncEntry>(&event.fact)) {
    if (entry->what == "not_submitted") forget_earlier_report(desync_, source, event.line);
    keep(desync_, *entry, line());
  } else if (const auto* barrier = std::get_if<BarrierMissed>(&event.fact)) {
    keep(barriers_, *barrier, line());
  } else if (const auto* unused = std::get_if<UnusedParameters>(&event.fact)) {
    UnusedParameters told = *unused;
    // DDP prints the rank in the group whose gradients it reduces.
    if (const int rank = speaker.rank >= 0 ? speaker.rank : origin.rank; rank >= 0)
      told.rank = rank;
    keep(unused_, told, line());
  } else if (const auto* stack = std::get_if<StackTop>(&event.fact)) {
    StackTop told = *stack;
    if (told.rank < 0) told.rank = speaker.rank >= 0 ? speaker.rank : origin.rank;
    keep_stack(std::move(told), line());
  }
}

// Of each process, the main thread is kept: py-spy names it, faulthandler and gdb print it last. A
// dump prints processes one after the other, or a few at once.
void Torch::keep_stack(StackTop stack, LineRef line) {
  constexpr std::string_view kMain = "MainThread";
  constexpr std::size_t kMostAtOnce = 64;
  const auto of_same_process = [&](const TorchLine<StackTop>& known) {
    return known.line.source == line.source && known.fact.rank == stack.rank &&
           // In gdb's stacks, each thread has its own number in place of the pid.
           (stack.tool == "gdb" ? known.fact.tool == "gdb" : known.fact.pid == stack.pid);
  };
  const auto first =
      stacks_.end() - static_cast<std::ptrdiff_t>(std::min(stacks_.size(), kMostAtOnce));
  const auto known = std::find_if(first, stacks_.end(), of_same_process);
  if (known == stacks_.end()) {
    if (stacks_.size() < kMostRanks) stacks_.push_back({std::move(stack), std::move(line)});
    return;
  }
  if (known->fact.thread == kMain && stack.thread != kMain) return;
  *known = {std::move(stack), std::move(line)};
}

std::vector<const TorchRank*> Torch::ranks() const {
  std::vector<const TorchRank*> all;
  for (const auto& [key, rank] : ranks_) all.push_back(&rank);
  return all;
}

}  // namespace faultline
