#include "simulate/program.h"

#include <algorithm>

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

constexpr int kLayers = 2;
constexpr std::uint64_t kActivations = 8'388'608;  // batch x sequence x hidden
constexpr std::uint64_t kShard = 3'162'112;        // of a layer's parameters
constexpr std::uint64_t kEmbeddings = 7'382'228;
constexpr int kNormEvery = 2;
constexpr int kBarrierEvery = 10;

// Writes the calls of a step, in those slots that exist.
class Writer {
 public:
  Writer(const Communicators& communicators, int half)
      : communicators_(communicators), half_(half) {}

  void call(Group group, Function function, std::uint64_t count, int datatype, int root = 0) {
    if (const auto slot = communicators_.slot_of(group))
      put(*slot, function, count, datatype, root);
  }
  void put(int slot, Function function, std::uint64_t count, int datatype, int root = 0) {
    calls.push_back({.function = function,
                     .slot = static_cast<std::uint8_t>(slot),
                     .group = group_,
                     .datatype = datatype,
                     .root = root,
                     .count = count});
  }

  void layers(bool forward) {
    for (int layer = 0; layer < kLayers; ++layer) {
      if (forward) {
        call(Group::tensor, Function::all_gather, kActivations / 8, half_);
        call(Group::tensor, Function::reduce_scatter, kActivations / 8, half_);
      }
      call(Group::tensor, Function::all_reduce, kActivations, half_);
      call(Group::tensor, Function::all_reduce, kActivations, half_);
    }
  }

  // Micro-batches run through the pipeline: a send and the receive beside it are one launch.
  void through_pipeline(int from, int to, bool forward) {
    const int batches = communicators_.stages();
    if (from >= 0) hop(Function::recv, from);
    for (int batch = 0; batch < batches; ++batch) {
      layers(forward);
      const bool receives = from >= 0 && batch + 1 < batches;
      if (to >= 0 && receives) group_ = ++groups_;
      if (to >= 0) hop(Function::send, to);
      if (receives) hop(Function::recv, from);
      group_ = 0;
    }
  }

  std::vector<Call> calls;

 private:
  void hop(Function function, int peer) {
    call(Group::pipeline, function, kActivations, half_, peer);
  }

  const Communicators& communicators_;
  int half_;
  std::uint8_t group_ = 0;
  std::uint8_t groups_ = 0;
};

}  // namespace

Program::Program(const Cluster& cluster, const Communicators& communicators,
                 const NcclVersion& version, const Plan& plan)
    : cluster_(cluster),
      communicators_(communicators),
      plan_(plan),
      steps_(cluster.options().steps - plan.replayed_steps),
      half_(version.since(10) ? kBfloat16 : kFloat16) {
  for (int stage = 0; stage < communicators.stages(); ++stage)
    for (const bool first : {false, true})
      for (const bool norm : {false, true})
        for (const bool barrier : {false, true}) {
          const Kind kind{stage, first, norm, barrier};
          written_[kind] = write(kind);
          longest_step_ = std::max(longest_step_, static_cast<int>(written_[kind].size()));
        }
}

Program::Kind Program::kind_of(int rank, int step) const {
  return {communicators_.stage_of(rank), step == 0, step % kNormEvery == kNormEvery - 1,
          step % kBarrierEvery == kBarrierEvery - 1};
}

std::vector<Call> Program::write(const Kind& kind) const {
  Writer writer(communicators_, half_);
  if (kind.first) writer.call(Group::world, Function::broadcast, 65'536, kFloat32);
  const int next = kind.stage + 1 < communicators_.stages() ? kind.stage + 1 : -1;
  const int previous = kind.stage - 1;
  writer.through_pipeline(previous, next, true);
  writer.through_pipeline(next, previous, false);
  for (const int slot : communicators_.further_slots())
    writer.put(slot, Function::all_reduce, kShard, half_);
  for (int bucket = 0; bucket < 2; ++bucket)
    writer.call(Group::data, Function::reduce_scatter, kShard, half_);
  writer.call(Group::data, Function::all_reduce, kEmbeddings, kFloat32);
  // A job that has only the world group reduces its gradients there.
  if (communicators_.slots() == 1)
    for (int bucket = 0; bucket < 4; ++bucket)
      writer.call(Group::world, Function::all_reduce, kShard, kFloat32);
  if (kind.norm) writer.call(Group::world, Function::all_reduce, 1, kFloat32);
  writer.call(Group::data, Function::all_gather, kShard, half_);
  if (kind.barrier) writer.call(Group::world, Function::all_reduce, 1, kUint8);
  return writer.calls;
}

const std::vector<Call>& Program::written(int rank, int step) const {
  return written_.at(kind_of(rank, step));
}

const std::vector<Call>& Program::of(int rank, int step, std::vector<Call>& scratch) const {
  const std::vector<Call>& original = written(rank, step);
  const auto plan = plan_.ranks.find(rank);
  const bool edited = plan != plan_.ranks.end() && [&] {
    for (const Edit& edit : plan->second.edits)
      if (edit.place.step == step) return true;
    return false;
  }();
  if (!edited && !plan_.all_to_all) return original;

  scratch.clear();
  std::size_t taken = 0;
  if (edited) {
    for (const Edit& edit : plan->second.edits) {
      if (edit.place.step != step) continue;
      const auto at = static_cast<std::size_t>(edit.place.call);
      while (taken < at && taken < original.size()) scratch.push_back(original[taken++]);
      scratch.insert(scratch.end(), edit.calls.begin(), edit.calls.end());
      taken += static_cast<std::size_t>(edit.removed);
    }
  }
  while (taken < original.size()) scratch.push_back(original[taken++]);
  if (plan_.all_to_all) exchange_tokens(rank, step, scratch);
  return scratch;
}

// Tokens go to the experts that they chose: every pair of ranks has a size of its own, and some
// pairs exchange nothing.
void Program::exchange_tokens(int rank, int step, std::vector<Call>& calls) const {
  const auto slot = communicators_.slot_of(Group::tensor);
  if (!slot) return;
  const Seat seat = communicators_.seats(rank)[static_cast<std::size_t>(*slot)];
  const int size = communicators_.at(seat.communicator).size();
  const auto tokens = [&](int from, int to) {
    const std::uint64_t drawn =
        chance(cluster_.options().seed, 0xa2a, seat.communicator, step, from, to);
    return drawn % 5 == 0 ? 0 : 1'024 * (1 + drawn % 64);
  };
  for (int peer = 0; peer < size; ++peer) {
    if (peer == seat.rank) continue;
    for (const Function function : {Function::send, Function::recv}) {
      const std::uint64_t count =
          function == Function::send ? tokens(seat.rank, peer) : tokens(peer, seat.rank);
      if (count == 0) continue;
      calls.push_back({.function = function,
                       .slot = static_cast<std::uint8_t>(*slot),
                       .group = 0xff,
                       .datatype = half_,
                       .root = peer,
                       .count = count});
    }
  }
}

std::size_t launch_end(const std::vector<Call>& calls, std::size_t from) {
  const std::uint8_t group = calls[from].group;
  std::size_t end = from + 1;
  if (group != 0)
    while (end < calls.size() && calls[end].group == group) ++end;
  return end;
}

}  // namespace faultline::simulation
