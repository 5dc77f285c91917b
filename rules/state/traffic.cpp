#include "rules/state/traffic.h"

#include <algorithm>

namespace faultline {
namespace {

// Enough for two for each pair among 1,024 ranks.
constexpr std::size_t kMostFlows = 2'200'000;

constexpr std::uint64_t kMostCount = (std::uint64_t{1} << 55) - 1;
constexpr int kMostDatatype = 255;

// In the order of ncclDataType_t.
constexpr std::array<std::uint8_t, 12> kBytesOfDatatype = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

}  // namespace

Payload message_of(const Signature& signature) {
  Payload message;
  message.count = std::min(signature.count, kMostCount) & kMostCount;
  message.count_is_size = signature.count_is_size ? 1 : 0;
  message.datatype = static_cast<std::uint8_t>(
      signature.datatype < 0 ? kMostDatatype : std::min(signature.datatype, kMostDatatype));
  return message;
}

std::optional<std::uint64_t> bytes_of(const Payload& message) {
  const std::size_t datatype = message.datatype;
  if (message.count_is_size != 0 || datatype >= kBytesOfDatatype.size()) return std::nullopt;
  return std::uint64_t{message.count} * kBytesOfDatatype[datatype];
}

bool differ_in_size(const Payload& sent, const Payload& received) {
  const auto sent_bytes = bytes_of(sent);
  const auto received_bytes = bytes_of(received);
  if (sent_bytes && received_bytes) return *sent_bytes != *received_bytes;
  const bool same_unit =
      sent.datatype == received.datatype && sent.count_is_size == received.count_is_size;
  return same_unit && sent.count != received.count;
}

std::optional<Payload> Flow::message(std::uint64_t which) const {
  if (which >= calls || which + kKept < calls) return std::nullopt;
  return messages[which % kKept];
}

const Flow* MemberTraffic::find(PeerCall call, int peer) const {
  const OneWay& one_way = of(call);
  const auto at = std::ranges::lower_bound(
      one_way.by_peer, peer, {}, [&](std::uint32_t index) { return one_way.flows[index].peer; });
  if (at == one_way.by_peer.end() || one_way.flows[*at].peer != peer) return nullptr;
  return &one_way.flows[*at];
}

void Traffic::enter(const Batch& batch) {
  meanings_.clear();
  for (const Signature& signature : batch.signatures) {
    Meaning& meaning = meanings_.emplace_back();
    meaning.peer = signature.root;
    meaning.message = message_of(signature);
    if (signature.done)
      meaning.kind = Kind::other;
    else if (signature.function == "Send")
      meaning.kind = Kind::send;
    else if (signature.function == "Recv")
      meaning.kind = Kind::receive;
    else
      meaning.kind = signature.point_to_point() ? Kind::other : Kind::collective;
  }
}

Flow* Traffic::flow(MemberTraffic::OneWay& one_way, int peer) {
  const auto at = std::ranges::lower_bound(
      one_way.by_peer, peer, {}, [&](std::uint32_t index) { return one_way.flows[index].peer; });
  if (at != one_way.by_peer.end() && one_way.flows[*at].peer == peer) return &one_way.flows[*at];
  if (flows_ == kMostFlows) return nullptr;
  ++flows_;
  one_way.by_peer.insert(at, static_cast<std::uint32_t>(one_way.flows.size()));
  Flow& added = one_way.flows.emplace_back();
  added.peer = peer;
  return &added;
}

void Traffic::apply(const Entered& entered, std::uint32_t source, const Batch& batch,
                    const CallRun& run) {
  if (entered.from >= run.calls.size()) return;
  if (entered.member >= members_.size()) members_.resize(entered.member + 1);
  MemberTraffic& member = members_[entered.member];
  for (std::size_t i = entered.from; i < run.calls.size(); ++i) {
    const Call& call = run.calls[i];
    const Meaning& meaning = meanings_[call.signature];
    if (meaning.kind == Kind::other) continue;
    const std::uint64_t line = batch.first_line + call.line;
    if (meaning.kind == Kind::collective) {
      member.collective_source = source;
      member.collective_line = line;
      continue;
    }
    if (meaning.message.count == 0) continue;
    Flow* known = flow(meaning.kind == Kind::send ? member.sent_ : member.received_, meaning.peer);
    if (known == nullptr) {
      member.complete = false;
      continue;
    }
    known->source = source;
    known->line = line;
    known->offset = offset_of(batch, call);
    known->op_count = static_cast<std::uint32_t>(call.op_count);
    known->lines[known->calls % Flow::kLines] = static_cast<std::uint32_t>(line);
    known->messages[known->calls % Flow::kKept] = meaning.message;
    ++known->calls;
    const Flow* back =
        member.find(meaning.kind == Kind::send ? PeerCall::receive : PeerCall::send, meaning.peer);
    const bool grouped = back != nullptr && back->calls > 0 && back->source == source &&
                         back->op_count == known->op_count;
    known->grouped += grouped ? 1 : 0;
    known->grouped_lately =
        static_cast<std::uint8_t>(known->grouped_lately << 1 | (grouped ? 1 : 0));
  }
}

// Only the lower halves of lines are kept; the last line is known in full.
std::optional<std::uint64_t> Flow::line_of(std::uint64_t which) const {
  if (which >= calls || which + kLines < calls) return std::nullopt;
  const std::uint32_t low = lines[which % kLines];
  return line - static_cast<std::uint32_t>(static_cast<std::uint32_t>(line) - low);
}

bool Flow::is_grouped(std::uint64_t which) const {
  return which < calls && calls - 1 - which < 8 && (grouped_lately >> (calls - 1 - which) & 1) != 0;
}

std::optional<std::uint32_t> Flow::calls_before(std::uint64_t before_line) const {
  const std::size_t kept = std::min<std::size_t>(calls, kLines);
  for (std::size_t back = 0; back < kept; ++back)
    if (lines[(calls - 1 - back) % kLines] < before_line)
      return static_cast<std::uint32_t>(calls - back);
  return calls == kept ? std::optional<std::uint32_t>(0) : std::nullopt;
}

const MemberTraffic& Traffic::of(std::size_t member) const {
  static const MemberTraffic none;
  return member < members_.size() ? members_[member] : none;
}

}  // namespace faultline
