// Packs what ranks sent each other.
#include <algorithm>

#include "rules/state/traffic.h"

namespace faultline {
namespace {

constexpr std::size_t kLeastBytesOfFlow = 9;
constexpr std::size_t kLeastBytesOfMember = 5;

std::size_t kept_of(const Flow& flow, std::size_t most) {
  return std::min<std::size_t>(flow.calls, most);
}

void pack_flow(const Flow& flow, ByteWriter& out) {
  out.signed_number(flow.peer);
  out.number(flow.source);
  out.number(flow.line);
  out.number(flow.offset);
  out.number(flow.op_count);
  out.number(flow.calls);
  out.number(flow.grouped);
  out.byte(flow.grouped_lately);
  for (std::size_t i = 0; i < kept_of(flow, Flow::kKept); ++i) {
    const Payload& message = flow.messages[i];
    out.number(std::uint64_t{message.count} << 1U | message.count_is_size);
    out.byte(static_cast<std::uint8_t>(message.datatype));
  }
  for (std::size_t i = 0; i < kept_of(flow, Flow::kLines); ++i)
    out.number(static_cast<std::uint32_t>(flow.line) - flow.lines[i]);
}

Flow unpack_flow(ByteReader& in, std::size_t sources) {
  Flow flow;
  flow.peer = in.signed_int();
  flow.source = in.small<std::uint32_t>();
  if (flow.source >= sources) throw BadBytes("names a source that it does not list");
  flow.line = in.number();
  flow.offset = in.number();
  flow.op_count = in.small<std::uint32_t>();
  flow.calls = in.small<std::uint32_t>();
  flow.grouped = in.small<std::uint32_t>();
  flow.grouped_lately = in.byte();
  if (flow.calls == 0) throw BadBytes("has a flow without a call");
  for (std::size_t i = 0; i < kept_of(flow, Flow::kKept); ++i) {
    const std::uint64_t count = in.number();
    flow.messages[i].count = count >> 1U & ((std::uint64_t{1} << 55U) - 1);
    flow.messages[i].count_is_size = count & 1U;
    flow.messages[i].datatype = in.byte();
  }
  for (std::size_t i = 0; i < kept_of(flow, Flow::kLines); ++i)
    flow.lines[i] = static_cast<std::uint32_t>(flow.line) - in.small<std::uint32_t>();
  return flow;
}

}  // namespace

void Traffic::pack(ByteWriter& out) const {
  out.number(members_.size());
  for (const MemberTraffic& member : members_) {
    out.number(member.collective_source);
    out.number(member.collective_line);
    out.byte(member.complete ? 1 : 0);
    for (const MemberTraffic::OneWay* one_way : {&member.sent_, &member.received_}) {
      out.number(one_way->flows.size());
      for (const Flow& flow : one_way->flows) pack_flow(flow, out);
    }
  }
}

Traffic Traffic::unpack(ByteReader& in, std::size_t sources) {
  Traffic traffic;
  traffic.members_.resize(in.count(kLeastBytesOfMember));
  for (MemberTraffic& member : traffic.members_) {
    member.collective_source = in.small<std::uint32_t>();
    if (member.collective_source >= sources) throw BadBytes("names a source that it does not list");
    member.collective_line = in.number();
    member.complete = in.byte() != 0;
    for (MemberTraffic::OneWay* one_way : {&member.sent_, &member.received_}) {
      for (std::size_t left = in.count(kLeastBytesOfFlow); left > 0; --left) {
        const Flow flow = unpack_flow(in, sources);
        Flow* added = traffic.flow(*one_way, flow.peer);
        if (added == nullptr) throw BadBytes("has more flows than are kept");
        if (added->calls != 0) throw BadBytes("has a flow twice");
        *added = flow;
      }
    }
  }
  return traffic;
}

}  // namespace faultline
