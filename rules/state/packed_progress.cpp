// Packs how far each rank has come.
#include <algorithm>

#include "model/json.h"
#include "model/signature_bytes.h"
#include "model/time_bytes.h"
#include "rules/state/progress.h"

namespace faultline {
namespace {

constexpr std::uint8_t kHasInit = 1;
constexpr std::uint8_t kComplete = 2;
constexpr std::uint8_t kEnded = 4;
constexpr std::uint8_t kFromStart = 8;
constexpr std::uint8_t kHasCalls = 16;
constexpr std::uint8_t kOpCountMoves = 32;
constexpr std::uint8_t kDone = 64;

constexpr std::size_t kLeastBytesOfMember = 16;

// Stores numbers that are close to each other as differences.
class Deltas {
 public:
  void write(std::uint64_t number, ByteWriter& out) {
    out.signed_number(static_cast<std::int64_t>(number - last_));
    last_ = number;
  }
  std::uint64_t read(ByteReader& in) {
    last_ += static_cast<std::uint64_t>(in.signed_number());
    return last_;
  }

 private:
  std::uint64_t last_ = 0;
};

void pack_line(const LineRef& line, ByteWriter& out) {
  out.number(line.source);
  out.number(line.line);
  out.number(line.offset);
  write_time(line.time, out);
  out.text(line.text);
}

std::uint32_t unpack_source(ByteReader& in, std::size_t sources) {
  const auto source = in.small<std::uint32_t>();
  if (source >= sources) throw BadBytes("names a source that it does not list");
  return source;
}

LineRef unpack_line(ByteReader& in, std::size_t sources) {
  LineRef line;
  line.source = unpack_source(in, sources);
  line.line = in.number();
  line.offset = in.number();
  line.time = read_time(in);
  line.text = in.text();
  return line;
}

void pack_recent(const RecentCalls& recent, ByteWriter& out) {
  out.number(recent.size());
  Deltas op_counts;
  Deltas lines;
  Deltas offsets;
  Deltas times;
  for (std::size_t i = 0; i < recent.size(); ++i) {
    const RecentCall& call = recent[i];
    op_counts.write(call.op_count, out);
    lines.write(call.line, out);
    offsets.write(call.offset, out);
    out.number(call.symbol);
    times.write(call.at_ms, out);
  }
}

RecentCalls unpack_recent(ByteReader& in, std::size_t symbols) {
  RecentCalls recent;
  const std::size_t calls = in.count(5);
  if (calls > RecentCalls::kMost) throw BadBytes("has more last calls than are kept");
  Deltas op_counts;
  Deltas lines;
  Deltas offsets;
  Deltas times;
  for (std::size_t i = 0; i < calls; ++i) {
    RecentCall call;
    call.op_count = op_counts.read(in);
    call.line = lines.read(in);
    call.offset = offsets.read(in);
    call.symbol = in.small<std::uint32_t>();
    if (call.symbol >= symbols) throw BadBytes("names a call that it does not list");
    call.at_ms = static_cast<std::uint32_t>(times.read(in));
    recent.push_back(call);
  }
  return recent;
}

std::uint8_t what_it_has(const Member& member) {
  unsigned has = 0;
  if (member.init) has |= kHasInit;
  if (member.complete) has |= kComplete;
  if (member.ending) has |= kEnded;
  if (member.from_start) has |= kFromStart;
  if (member.first_op_count) has |= kHasCalls;
  if (member.op_count_moves) has |= kOpCountMoves;
  if (member.done_op_count) has |= kDone;
  return static_cast<std::uint8_t>(has);
}

void pack_member(const Member& member, ByteWriter& out) {
  out.byte(what_it_has(member));
  out.text(member.process.host);
  out.signed_number(member.process.pid);
  out.text(member.host);
  out.text(member.sender_host);
  out.signed_number(member.pid);
  out.signed_number(member.device);
  out.number(member.pointer);
  out.signed_number(member.nranks);
  out.signed_number(member.launcher_rank);
  out.number(member.source);
  if (member.init) out.text(fact_to_json(*member.init));
  pack_line(member.init_line, out);
  out.number(member.init_sources.size());
  for (const std::uint32_t source : member.init_sources) out.number(source);
  if (member.ending) out.byte(static_cast<std::uint8_t>(*member.ending));
  out.number(member.place.branch);
  out.number(member.place.position);
  out.number(member.point_to_point);
  if (member.first_op_count) out.number(*member.first_op_count);
  out.number(member.last_op_count);
  out.number(member.skipped_op_counts);
  if (member.done_op_count) out.number(*member.done_op_count);
  out.number(member.calls_source);
  out.number(member.dated_from_s);
  out.number(member.calls);
  out.number(member.repeated_calls);
  pack_line(member.first_line, out);
  pack_line(member.last_line, out);
  pack_recent(member.recent, out);
}

CommunicatorInit unpack_init(ByteReader& in) {
  auto fact = fact_from_json(CommunicatorInit::kKind, in.text());
  CommunicatorInit* init = fact ? std::get_if<CommunicatorInit>(&*fact) : nullptr;
  if (init == nullptr) throw BadBytes("has an Init line that cannot be read");
  return std::move(*init);
}

Member unpack_member(ByteReader& in, const History& history, std::size_t symbols,
                     std::size_t sources) {
  Member member;
  const std::uint8_t has = in.byte();
  member.complete = (has & kComplete) != 0;
  member.from_start = (has & kFromStart) != 0;
  member.op_count_moves = (has & kOpCountMoves) != 0;
  member.process.host = in.text();
  member.process.pid = in.signed_number();
  member.host = in.text();
  member.sender_host = in.text();
  member.pid = in.signed_number();
  member.device = in.signed_int();
  member.pointer = in.number();
  member.nranks = in.signed_int();
  member.launcher_rank = in.signed_int();
  member.source = unpack_source(in, sources);
  if (has & kHasInit) member.init = unpack_init(in);
  member.init_line = unpack_line(in, sources);
  member.init_sources.resize(in.count(1));
  for (std::uint32_t& source : member.init_sources) source = unpack_source(in, sources);
  if (has & kEnded)
    member.ending = static_cast<CommunicatorEnding>(
        std::min(in.byte(), static_cast<std::uint8_t>(CommunicatorEnding::revoked)));
  member.place.branch = in.small<std::uint32_t>();
  member.place.position = in.number();
  if (!history.has(member.place)) throw BadBytes("has a rank outside the history");
  member.point_to_point = in.number();
  if (has & kHasCalls) member.first_op_count = in.number();
  member.last_op_count = in.number();
  member.skipped_op_counts = in.number();
  if (has & kDone) member.done_op_count = in.number();
  member.calls_source = unpack_source(in, sources);
  member.dated_from_s = in.small<std::uint32_t>();
  member.calls = in.number();
  member.repeated_calls = in.number();
  member.first_line = unpack_line(in, sources);
  member.last_line = unpack_line(in, sources);
  member.recent = unpack_recent(in, symbols);
  if (member.recent.size() > member.place.position)
    throw BadBytes("has more last calls than were made");
  return member;
}

}  // namespace

// Pointers are reused: of members with the same key, the latest is the current one. The first
// signature with a key stands for all with this key.
void Progress::pack(ByteWriter& out) const {
  write_signatures(signatures_, out);
  history_.pack(out);
  out.number(members_.size());
  for (const Member& member : members_) pack_member(member, out);
}

Progress Progress::unpack(ByteReader& in, std::size_t sources) {
  Progress progress;
  progress.signatures_ = read_signatures(in);
  const std::size_t symbols = progress.signatures_.size();
  for (std::uint32_t symbol = 0; symbol < symbols; ++symbol)
    if (!progress.symbols_.try_emplace(key_of(progress.signatures_[symbol]), symbol).second)
      throw BadBytes("lists a call twice");
  progress.history_ = History::unpack(in, symbols);
  for (std::size_t left = in.count(kLeastBytesOfMember); left > 0; --left) {
    const Member& member =
        progress.members_.emplace_back(unpack_member(in, progress.history_, symbols, sources));
    progress.make_current({member.process, member.pointer}, progress.members_.size() - 1);
  }
  return progress;
}

}  // namespace faultline
