// Packs what ranks called: only the folded sequences, not what helps to fold more, which the next
// calls rebuild.
#include "rules/state/history.h"

namespace faultline {

// The periods are stored one after the other in the symbols, so the start of a stretch follows from
// the stretches before it.
void FoldedSequence::pack(ByteWriter& out) const {
  out.number(stretches_.size());
  for (const Stretch& stretch : stretches_) {
    out.number(stretch.length);
    out.number(stretch.period);
  }
  for (const std::uint32_t symbol : symbols_) out.number(symbol);
}

FoldedSequence FoldedSequence::unpack(ByteReader& in, std::size_t symbols) {
  FoldedSequence sequence;
  const std::size_t stretches = in.count(2);
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::uint64_t length = in.number();
    const std::uint64_t period = in.number();
    if (period == 0 || period > length || length > UINT64_MAX / 2 - sequence.size_ ||
        period > UINT32_MAX)
      throw BadBytes("has an impossible stretch");
    sequence.stretches_.push_back({.start = sequence.size_,
                                   .length = length,
                                   .first = static_cast<std::size_t>(held),
                                   .period = static_cast<std::size_t>(period)});
    sequence.size_ += length;
    held += period;
  }
  if (held > in.left()) throw BadBytes("announces more than it has");
  sequence.symbols_.resize(static_cast<std::size_t>(held));
  for (std::uint32_t& symbol : sequence.symbols_) {
    symbol = in.small<std::uint32_t>();
    if (symbol >= symbols) throw BadBytes("names a call that it does not list");
  }
  return sequence;
}

// The children of a branch follow from each branch's fork and first call.
void History::pack(ByteWriter& out) const {
  out.number(branches_.size());
  for (const Branch& branch : branches_) {
    out.number(branch.parent);
    out.number(branch.fork);
    branch.calls.pack(out);
  }
}

History History::unpack(ByteReader& in, std::size_t symbols) {
  History history;
  const std::size_t branches = in.count(3);
  if (branches == 0) throw BadBytes("has no history");
  history.branches_.clear();
  for (std::uint32_t i = 0; i < branches; ++i) {
    const auto parent = in.small<std::uint32_t>();
    const std::uint64_t fork = in.number();
    FoldedSequence calls = FoldedSequence::unpack(in, symbols);
    const bool is_trunk = i == 0;
    if (is_trunk) {
      if (parent != 0 || fork != 0) throw BadBytes("has a history without a trunk");
    } else {
      if (parent >= i || calls.size() == 0) throw BadBytes("has an impossible branch of history");
      Branch& from = history.branches_[parent];
      if (fork < from.fork || fork - from.fork >= from.calls.size() ||
          !from.children.try_emplace({fork, calls.at(0)}, i).second)
        throw BadBytes("has an impossible branch of history");
    }
    history.branches_.push_back(
        {.parent = parent, .fork = fork, .calls = std::move(calls), .near = 0, .children = {}});
  }
  return history;
}

bool History::has(const Place& place) const {
  if (place.branch >= branches_.size()) return false;
  const Branch& branch = branches_[place.branch];
  return place.position >= branch.fork && place.position - branch.fork <= branch.calls.size();
}

}  // namespace faultline
