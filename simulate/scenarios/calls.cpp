// Programs whose calls differ from those of their peers.
#include "simulate/scenarios/families.h"
#include "simulate/warnings.h"

namespace faultline::simulation {
namespace {

bool is_gradient_norm(const Call& call) {
  return call.function == Function::all_reduce && call.count == 1 && call.datatype == kFloat32;
}

// A collective to change: large, and with many similar ones before it.
Place large_call(Injection& it, int rank, Function function) {
  const Place exact = it.any_place(
      rank, [&](const Call& call) { return call.function == function && call.count > 1; });
  if (exact.step >= 0) return exact;
  return it.any_place(rank, [](const Call& call) {
    return call.function == Function::all_reduce && call.count > 1;
  });
}

// One rank calls something else at `place`.
void call_instead(Injection& it, int rank, Place place, const Call& call) {
  it.edit(rank, place, 1, {call});
  it.blame_rank(rank);
  it.blame_communicator(rank, call.slot);
}

}  // namespace

// A branch on data that only this rank took: there is no similar call near it.
void collective_skipped_odd(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_gradient_norm);
  it.edit(rank, place, 1, {});
  it.blame_rank(rank);
  it.blame_communicator(rank, it.call_at(rank, place).slot);
}

// One of many similar calls: the later ones pair with the wrong partner until something differs.
void collective_skipped_same(Injection& it) {
  const int rank = it.any_rank();
  const Place first = large_call(it, rank, Function::all_reduce);
  const Call& call = it.call_at(rank, first);
  const auto& calls = it.program.written(rank, first.step);
  Place last = first;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls[i].slot == call.slot && calls[i].same_signature(call))
      last.call = static_cast<int>(i);
  it.edit(rank, last, 1, {});
  it.blame_rank(rank);
  it.blame_communicator(rank, call.slot);
}

// An evaluation that only this rank makes.
void collective_extra(Injection& it) {
  const int rank = it.any_rank();
  const Place place = large_call(it, rank, Function::all_reduce);
  Call call = it.call_at(rank, place);
  call.function = Function::all_reduce;
  call.count = 96;
  call.datatype = kFloat32;
  it.edit(rank, place, 0, {call});
  it.blame_rank(rank);
  it.blame_communicator(rank, call.slot);
}

void collective_mismatch_function(Injection& it) {
  const int rank = it.any_rank();
  const Place place = large_call(it, rank, Function::reduce_scatter);
  Call call = it.call_at(rank, place);
  call.function =
      call.function == Function::reduce_scatter ? Function::all_gather : Function::reduce_scatter;
  call_instead(it, rank, place, call);
}

void collective_mismatch_count(Injection& it) {
  const int rank = it.any_rank();
  const Place place = large_call(it, rank, Function::all_reduce);
  Call call = it.call_at(rank, place);
  call.count -= 1'024;
  call_instead(it, rank, place, call);
}

void collective_mismatch_datatype(Injection& it) {
  const int rank = it.any_rank();
  const Place place = large_call(it, rank, Function::all_reduce);
  Call call = it.call_at(rank, place);
  call.datatype = call.datatype == kFloat16 ? kFloat32 : kFloat16;
  call_instead(it, rank, place, call);
}

// The sizes agree, so nothing hangs: the results are wrong.
void collective_mismatch_op(Injection& it) {
  const int rank = it.any_rank();
  const Place place = large_call(it, rank, Function::all_reduce);
  Call call = it.call_at(rank, place);
  call.operation = kMax;
  call_instead(it, rank, place, call);
}

namespace {

constexpr Call kBroadcast{.function = Function::broadcast, .datatype = kFloat32, .count = 65'536};

// Every few steps the first rank broadcasts something.
int broadcasts(Injection& it) {
  int last = 0;
  for (int step = 2; step < it.program.steps(); step += 3) {
    last = step;
    it.insert_everywhere({step, 0}, kBroadcast);
  }
  return last;
}

}  // namespace

void collective_mismatch_root(Injection& it) {
  const int step = broadcasts(it);
  if (it.twin) return;
  const int rank = it.any_rank_but_first();
  for (Edit& edit : it.of(rank).edits)
    if (edit.place.step == step) edit.calls.front().root = rank;
  it.blame_rank(rank);
  it.blame_communicator(rank, 0);
}

void invalid_usage_root(Injection& it) {
  const int step = broadcasts(it);
  if (it.twin) return;
  const int rank = it.any_rank_but_first();
  const int ranks = it.cluster.ranks();
  for (Edit& edit : it.of(rank).edits)
    if (edit.place.step == step) edit.calls = {{.function = Function::halt}};
  it.last_words(rank, invalid_root(it.version, ranks, ranks));
  it.blame_rank(rank);
  it.blame_communicator(rank, 0);
}

// Half of the ranks train and half evaluate: no single rank is the odd one.
void mismatch_two_camps(Injection& it) {
  const Place place = it.any_place(0, is_gradient_norm);
  for (int rank = 0; rank < it.cluster.ranks(); ++rank) {
    it.involve_rank(rank);
    if (rank % 2 == 0) continue;
    // Pipeline stages have steps of different lengths.
    const int at = it.program.find(rank, place.step, is_gradient_norm);
    Call call = it.call_at(rank, {place.step, at});
    call.function = Function::broadcast;
    call.count = 4'096;
    it.edit(rank, {place.step, at}, 1, {call});
  }
  it.blame_communicator(0, 0);
}

}  // namespace faultline::simulation
