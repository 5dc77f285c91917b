#include "simulate/torch_calls.h"

#include <fmt/format.h>

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

using std::chrono::microseconds;

std::string_view description_of(Group group) {
  switch (group) {
    case Group::world:
      return "default_pg";
    case Group::tensor:
      return "TENSOR_MODEL_PARALLEL_GROUP";
    case Group::pipeline:
      return "PIPELINE_MODEL_PARALLEL_GROUP";
    case Group::data:
      return "DATA_PARALLEL_GROUP";
  }
  return "undefined";
}

}  // namespace

TorchCalls::TorchCalls(const Attempt& attempt, int rank, std::size_t kept)
    : attempt_(attempt),
      kept_(kept),
      timing_(attempt.job.options.timing),
      random_(chance(attempt.job.options.seed, 0x70c4, attempt.number, rank)) {
  const Communicators& communicators = attempt.job.communicators;
  for (const Seat& seat : communicators.seats(rank)) {
    const Communicator& communicator = communicators.at(seat.communicator);
    groups_.push_back({.id = static_cast<int>(groups_.size()),
                       .name = std::to_string(seat.communicator),
                       .description = description_of(communicator.group),
                       .communicator = &communicator,
                       .rank = seat.rank});
  }
  if (attempt.plan_of(rank).init != InitStop::none) return;
  const Stand& stand = attempt.stands[static_cast<std::size_t>(rank)];
  const RankPlan& plan = attempt.plan_of(rank);
  std::vector<Call> scratch;
  for (int step = 0; step < attempt.program.steps() && Place{step, 0} < stand.end; ++step) {
    const std::vector<Call>& calls = attempt.program.of(rank, step, scratch);
    for (std::size_t from = 0; from < calls.size();) {
      const Place place{step, static_cast<int>(from)};
      const std::size_t end = launch_end(calls, from);
      if (!(place < stand.end)) break;
      const bool silent =
          calls[from].function == Function::speak || calls[from].function == Function::halt;
      const bool over = stand.finished || place < stand.inside;
      const bool first = place == stand.inside && timing_ && !plan.kernel_hangs;
      if (!silent)
        add_launch(calls, from, end, place,
                   over    ? Progress::completed
                   : first ? Progress::started
                           : Progress::scheduled);
      from = end;
    }
  }
}

void TorchCalls::add_launch(const std::vector<Call>& calls, std::size_t from, std::size_t end,
                            Place place, Progress progress) {
  TorchGroupState& group = groups_[calls[from].slot];
  const bool batch = end - from > 1;
  const bool p2p = is_peer_to_peer(calls[from].function);
  random_ = mixed(random_);
  const Timestamp created = attempt_.begin() + kTraining +
                            attempt_.program.longest_step() * place.step * kCallTime +
                            place.call * kCallTime + microseconds(random_ >> 50);
  if (batch) ++(p2p ? group.sends : group.collectives);
  for (std::size_t i = from; i < end; ++i) {
    TorchCall one{.call = calls[i], .place = place, .created = created};
    if (!batch) ++(p2p ? group.sends : group.collectives);
    one.sequence = group.collectives;
    one.p2p_sequence = group.sends;
    one.operation = ++group.operations;
    one.batched = batch;
    one.progress = batch ? Progress::scheduled : progress;
    add(one);
  }
  const std::int64_t number = p2p ? group.sends : group.collectives;
  if (batch)
    add({.call = calls[from],
         .place = place,
         .created = created,
         .sequence = group.collectives,
         .p2p_sequence = group.sends,
         .operation = group.operations,
         .closes = true,
         .progress = progress});
  group.enqueued = number;
  if (progress == Progress::completed) group.completed = number;
  if (progress != Progress::scheduled && timing_) group.started = number;
}

void TorchCalls::add(TorchCall call) {
  call.record = records_++;
  calls_.push_back(call);
  if (calls_.size() > kept_) calls_.pop_front();
}

const TorchCall* TorchCalls::stuck_in(int slot) const {
  for (const TorchCall& call : calls_)
    if (call.call.slot == slot && call.is_work() && call.progress != Progress::completed)
      return &call;
  return nullptr;
}

const TorchCall* TorchCalls::stuck() const {
  for (const TorchCall& call : calls_)
    if (call.is_work() && call.progress != Progress::completed) return &call;
  return nullptr;
}

std::uint64_t elements_in(const TorchCall& call, int group_size) {
  if (call.closes) return ~std::uint64_t{0};
  if (call.call.function == Function::reduce_scatter)
    return call.call.count * static_cast<std::uint64_t>(group_size);
  return call.call.count;
}

std::uint64_t elements_out(const TorchCall& call, int group_size) {
  if (call.closes) return ~std::uint64_t{0};
  if (call.call.function == Function::all_gather)
    return call.call.count * static_cast<std::uint64_t>(group_size);
  return call.call.count;
}

std::string_view watchdog_name(const TorchCall& call) {
  if (call.closes) return "COALESCED";
  constexpr std::string_view kNames[] = {"ALLREDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE",
                                         "BROADCAST", "REDUCE",          "SEND",
                                         "RECV"};
  return kNames[static_cast<int>(call.call.function)];
}

std::string recorder_name(const TorchCall& call, int group_rank) {
  if (call.closes) return "nccl:coalesced";
  if (call.call.function == Function::send)
    return fmt::format("nccl:send {}->{}", group_rank, call.call.root);
  if (call.call.function == Function::recv)
    return fmt::format("nccl:recv {}<-{}", group_rank, call.call.root);
  constexpr std::string_view kNames[] = {"all_reduce", "_all_gather_base", "_reduce_scatter_base",
                                         "broadcast", "reduce"};
  return fmt::format("nccl:{}", kNames[static_cast<int>(call.call.function)]);
}

std::string_view dtype_name(int datatype) {
  constexpr std::string_view kNames[] = {"Char", "Byte", "Int",   "Int",    "Long",
                                         "Long", "Half", "Float", "Double", "BFloat16"};
  return kNames[datatype];
}

std::vector<ProgramFrame> frames_of(const TorchCall& call, Group group) {
  constexpr std::string_view kTorch = "/usr/local/lib/python3.11/site-packages/torch/";
  constexpr std::string_view kTrainer = "/workspace/trainer/";
  constexpr std::pair<std::string_view, int> kCalls[] = {{"all_reduce", 2'806},
                                                         {"all_gather_into_tensor", 3'709},
                                                         {"reduce_scatter_tensor", 4'221},
                                                         {"broadcast", 2'421},
                                                         {"reduce", 2'930},
                                                         {"send", 2'216},
                                                         {"recv", 2'280}};
  const auto torch = [&](std::string_view file) { return fmt::format("{}{}", kTorch, file); };
  const auto own = [&](std::string_view file) { return fmt::format("{}{}", kTrainer, file); };
  std::vector<ProgramFrame> frames;
  const auto& [function, line] = kCalls[static_cast<int>(call.call.function)];
  if (call.batched || call.closes)
    frames.push_back({"batch_isend_irecv", torch("distributed/distributed_c10d.py"), 2'693});
  else
    frames.push_back({function, torch("distributed/distributed_c10d.py"), line});
  frames.push_back({"wrapper", torch("distributed/c10d_logger.py"), 81});
  switch (group) {
    case Group::world:
      frames.push_back({"clip_grad_norm", own("optimizer.py"), 118});
      break;
    case Group::tensor:
      frames.push_back({"_reduce", own("tensor_parallel/mappings.py"), 26});
      frames.push_back({"forward", own("tensor_parallel/mappings.py"), 223});
      frames.push_back({"apply", torch("autograd/function.py"), 575});
      frames.push_back({"forward", own("tensor_parallel/layers.py"), 1'081});
      frames.push_back({"_call_impl", torch("nn/modules/module.py"), 1'751});
      break;
    case Group::pipeline:
      frames.push_back({"_communicate", own("pipeline_parallel/p2p.py"), 330});
      frames.push_back({"send_forward_recv_forward", own("pipeline_parallel/p2p.py"), 566});
      break;
    case Group::data:
      frames.push_back({"start_grad_sync", own("distributed/buffers.py"), 207});
      break;
  }
  // A line of its own for each call of a step.
  frames.push_back({"train_step", own("training.py"), 1'200 + call.place.call});
  frames.push_back({"train", own("training.py"), 2'014});
  frames.push_back({"pretrain", own("training.py"), 761});
  frames.push_back({"main", "/workspace/pretrain_gpt.py", 288});
  frames.push_back({"<module>", "/workspace/pretrain_gpt.py", 301});
  return frames;
}

}  // namespace faultline::simulation
