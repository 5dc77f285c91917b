#include "simulate/rank_log.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds kSetUpStep{230'000};

// Collectives up to this size use one channel.
constexpr std::uint64_t kOneChannel = 262'144;

void append_number(std::string& text, std::uint64_t value, int base) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), value, base).ptr;
  text.append(digits.begin(), end);
}

}  // namespace

RankLog::RankLog(const Attempt& attempt, int rank)
    : attempt_(attempt),
      job_(attempt.job),
      plan_(attempt.plan_of(rank)),
      rank_(rank),
      voice_(job_.cluster.host_name_of(rank), job_.cluster.pid(rank, attempt.number),
             plan_.cuda_device.value_or(job_.cluster.local_of(rank)),
             *attempt.plan.setup_of(rank).version),
      random_(chance(job_.options.seed, 0xb0f, attempt.number, rank)),
      now_(attempt.begin() + microseconds(random_ % 200'000)) {
  const int device = voice_.device();
  context_ = {.cluster = &job_.cluster,
              .voice = &voice_,
              .plan = &attempt_.plan,
              .setup = &attempt_.plan.setup_of(rank),
              .world_rank = rank,
              .cuda_device = device,
              .bus_of = device};
  heap_ = 0x550000000000 + (chance(random_, 1) & 0xffffffff0);
  call_prefix_ = voice_.info_prefix(Thread::application);
  const std::vector<Seat>& seats = job_.communicators.seats(rank);
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const Communicator& communicator = job_.communicators.at(seats[i].communicator);
    Slot slot;
    slot.member = {.communicator = &communicator,
                   .index = seats[i].communicator,
                   .slot = static_cast<int>(i),
                   .rank = seats[i].rank,
                   .pointer = heap_ + 0x6a'4c10 * (i + 1),
                   .stream = heap_ + 0x6a'4c10 * (i + 1) - 0x2c'39b0,
                   .id = job_.communicators.id(seats[i].communicator, attempt.number)};
    if (communicator.color >= 0) slot.member.parent = slots_.front().member.pointer;
    slot.tail = fmt::format(" comm 0x{:x} [nranks={}] stream 0x{:x}\n", slot.member.pointer,
                            communicator.size(), slot.member.stream);
    slot.boundary = ring_leaves_host(job_.cluster, communicator, seats[i].rank);
    slots_.push_back(std::move(slot));
  }
}

bool RankLog::next(std::string& out) {
  const bool before = phase_ != Phase::end && phase_ != Phase::over && at_ < plan_.first;
  if (!before) return advance(out);
  unseen_.clear();
  return advance(unseen_);
}

bool RankLog::advance(std::string& out) {
  switch (phase_) {
    case Phase::start:
      if (plan_.init == InitStop::absent) {
        phase_ = Phase::over;
        return false;
      }
      write_process_start(out, context_);
      phase_ = Phase::set_up;
      return true;
    case Phase::set_up:
      set_up_next(out);
      return true;
    case Phase::run:
      run_next(out);
      return true;
    case Phase::end:
      finish(out);
      phase_ = Phase::over;
      return true;
    case Phase::over:
      return false;
  }
  return false;
}

// All ranks take the same number of pieces for a communicator, so that none gets ahead of ranks
// that it needs.
void RankLog::set_up_next(std::string& out) {
  const Membership& member = slots_[static_cast<std::size_t>(slot_)].member;
  const bool last = plan_.init != InitStop::none && plan_.init_slot == slot_;
  now_ += kSetUpStep;
  const auto stop = [&] {
    now_ += kTraining;
    say(out, plan_.at_init);
    phase_ = Phase::over;
  };
  switch (stage_++) {
    case 0:
      if (member.rank == 0 && member.parent == 0 && !version_told_) {
        write_version(out, context_);
        version_told_ = true;
      }
      write_network(out, context_, member);
      if (last && plan_.init == InitStop::before_start) return stop();
      break;
    case 1:
      write_init_start(out, context_, member);
      if (last && plan_.init == InitStop::waiting) return stop();
      break;
    case 2:
      write_bootstrap_done(out, context_, member);
      if (last && plan_.init == InitStop::in_topology) return stop();
      write_affinity(out, context_, member);
      if (last && plan_.init == InitStop::in_exchange) return stop();
      break;
    case 3:
      write_topology(out, context_, member);
      break;
    case 4:
      if (!connects_lazily(voice_.version()))
        write_connections(out, context_, member, plan_.connects || !last);
      if (last && plan_.init == InitStop::connecting) return stop();
      break;
    default:
      write_init_complete(out, context_, member);
      stage_ = 0;
      if (++slot_ == static_cast<int>(slots_.size())) {
        phase_ = Phase::run;
        now_ = attempt_.begin() + kTraining;
      }
  }
}

void RankLog::run_next(std::string& out) {
  const Stand& stand = attempt_.stands[static_cast<std::size_t>(rank_)];
  while (calls_ == nullptr || static_cast<std::size_t>(at_.call) >= calls_->size()) {
    if (calls_ != nullptr) at_ = {at_.step + 1, 0};
    if (at_.step >= attempt_.program.steps()) break;
    calls_ = &attempt_.program.of(rank_, at_.step, scratch_);
  }
  if (at_.step >= attempt_.program.steps() || at_ >= stand.end) {
    phase_ = Phase::end;
    return;
  }
  const std::vector<Call>& calls = *calls_;
  const auto from = static_cast<std::size_t>(at_.call);
  const std::size_t end = launch_end(calls, from);
  at_.call = static_cast<int>(end);
  const Call& first = calls[from];
  if (first.function == Function::speak) {
    say(out, {plan_.words[static_cast<std::size_t>(first.root)]});
    return;
  }
  // Ranks are a little apart, but none gets far ahead of the others.
  const microseconds planned = attempt_.program.longest_step() * at_.step * kCallTime +
                               static_cast<int>(from) * kCallTime + microseconds(random_ >> 50);
  now_ = std::max(now_ + microseconds(1), attempt_.begin() + kTraining + planned);
  for (std::size_t i = from; i < end; ++i) write_call(out, calls[i]);
  Slot& slot = slots_[first.slot];
  if (is_peer_to_peer(first.function)) {
    for (std::size_t i = from; i < end; ++i) {
      const bool sends = calls[i].function == Function::send;
      const int key = sends ? calls[i].root : -1 - calls[i].root;
      if (std::find(slot.peers.begin(), slot.peers.end(), key) != slot.peers.end()) continue;
      slot.peers.push_back(key);
      write_peer_connection(out, context_, slot.member, calls[i].root, sends);
    }
  } else if (!slot.connected && connects_lazily(voice_.version())) {
    slot.connected = true;
    write_connections(out, context_, slot.member, plan_.connects || first.slot != plan_.init_slot);
  }
  count_launch(&first, &first + (end - from));
}

std::uint64_t RankLog::buffer() {
  random_ = random_ * 6364136223846793005 + 1442695040888963407;
  // Somewhere in one of the large blocks that the framework's allocator carves up.
  return 0x7c0000000000 + ((random_ >> 20) & 0x3ff'ffff'fe00);
}

void RankLog::write_call(std::string& out, const Call& call) {
  const Slot& slot = slots_[call.slot];
  const NcclVersion& version = voice_.version();
  std::uint64_t count = call.count;
  int datatype = call.datatype;
  if ((call.function == Function::all_gather || call.function == Function::broadcast) &&
      !version.since(12, 13)) {
    count *= bytes_of(datatype);
    datatype = 0;
  }
  const std::uint64_t data = buffer();
  out += call_prefix_;
  out += name_of(call.function);
  out += ": opCount ";
  append_number(out, slot.op_count, 16);
  const bool send_in_receive = call.function == Function::send && version.since(12, 7);
  if (call.function == Function::recv || send_in_receive) {
    out += " sendbuff (nil) recvbuff 0x";
    append_number(out, data, 16);
  } else {
    out += " sendbuff 0x";
    append_number(out, data, 16);
    if (call.function == Function::send) {
      out += " recvbuff (nil)";
    } else {
      const bool in_place =
          call.function == Function::all_reduce || call.function == Function::broadcast;
      out += " recvbuff 0x";
      append_number(out, in_place ? data : data + 0x40'0000, 16);
    }
  }
  out += " count ";
  append_number(out, count, 10);
  out += " datatype ";
  append_number(out, static_cast<std::uint64_t>(datatype), 10);
  out += " op ";
  append_number(out, static_cast<std::uint64_t>(call.operation), 10);
  out += " root ";
  append_number(out, static_cast<std::uint64_t>(call.root), 10);
  out += slot.tail;
}

bool RankLog::through_network(const Slot& slot, const Call& call) const {
  const Communicator& communicator = *slot.member.communicator;
  if (communicator.nodes == 1) return false;
  if (is_peer_to_peer(call.function))
    return job_.cluster.host_of(communicator.members[static_cast<std::size_t>(call.root)]) !=
           job_.cluster.host_of(rank_);
  return slot.boundary || call.count * bytes_of(call.datatype) > kOneChannel;
}

// What opCount counts differs between versions.
void RankLog::count_launch(const Call* first, const Call* last) {
  Slot& slot = slots_[first->slot];
  const NcclVersion& version = voice_.version();
  const Communicator& communicator = *slot.member.communicator;
  const bool no_proxy =
      communicator.size() == 1 || (communicator.nodes == 1 && !context_.setup->p2p);
  if (no_proxy && version.since(9)) return;
  if (version.since(27, 3)) {
    if (std::any_of(first, last, [&](const Call& call) { return through_network(slot, call); }))
      ++slot.op_count;
  } else if (is_peer_to_peer(first->function) && !version.since(9)) {
    slot.op_count += 2 * static_cast<std::uint64_t>(last - first);  // one for each channel
  } else {
    ++slot.op_count;
  }
}

void RankLog::say(std::string& out, const std::vector<Words>& words) {
  for (const Words& said : words) {
    now_ += said.after;
    voice_.say(out, said, now_);
  }
}

void RankLog::finish(std::string& out) {
  const Stand& stand = attempt_.stands[static_cast<std::size_t>(rank_)];
  say(out, plan_.last_words);
  now_ += milliseconds(400);
  if (stand.finished && attempt_.plan.destroys)
    for (std::size_t i = slots_.size(); i-- > 0;) write_destroy(out, context_, slots_[i].member);
  if (plan_.aborts)
    for (const Slot& slot : slots_) write_abort(out, context_, slot.member);
}

}  // namespace faultline::simulation
