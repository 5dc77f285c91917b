// Ranks that stop.
#include <fmt/format.h>

#include "simulate/scenarios/families.h"
#include "simulate/scenarios/trouble.h"
#include "simulate/warnings.h"

namespace faultline::simulation {
namespace {

bool is_collective(const Call& call) { return !is_peer_to_peer(call.function) && call.count > 1; }

// Stops a rank somewhere in the run.
int stop_somewhere(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  it.stop(rank, place);
  it.blame_communicator(rank, it.call_at(rank, place).slot);
  return rank;
}

}  // namespace

void rank_behind(Injection& it) { it.blame_rank(stop_somewhere(it)); }

void gpu_memory_fault(Injection& it) {
  const int rank = stop_somewhere(it);
  it.last_words(rank, illegal_access(it.version));
  it.of(rank).cuda_error = "CUDA error: an illegal memory access was encountered";
  it.blame_rank(rank);
}

// No data flows, and nothing shows where it is held up.
void group_stalled(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  const Call& call = it.call_at(rank, place);
  it.block(it.seat(rank, call.slot).communicator, place);
  it.blame_communicator(rank, call.slot);
}

// The program has made its calls; its GPU is still in a kernel of its own.
void kernel_hangs(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  const Call& call = it.call_at(rank, place);
  it.block(it.seat(rank, call.slot).communicator, place);
  it.of(rank).kernel_hangs = true;
  it.blame_rank(rank);
  it.blame_communicator(rank, call.slot);
}

void data_loader_error(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  it.stop(rank, place);
  it.plan.peers_notice = true;
  it.of(rank).raises = {
      "Traceback (most recent call last):",
      "  File \"/workspace/pretrain_gpt.py\", line 301, in <module>",
      "    main()",
      "  File \"/workspace/trainer/training.py\", line 2014, in train",
      "    batch = next(data_iterator)",
      "            ^^^^^^^^^^^^^^^^^^^",
      "  File \"/usr/local/lib/python3.11/site-packages/torch/utils/data/dataloader.py\", line "
      "708, "
      "in __next__",
      "    data = self._next_data()",
      "           ^^^^^^^^^^^^^^^^^",
      "  File \"/usr/local/lib/python3.11/site-packages/torch/_utils.py\", line 733, in reraise",
      "    raise exception",
      "ValueError: Caught ValueError in DataLoader worker process 3.",
      "Original Traceback (most recent call last):",
      "  File "
      "\"/usr/local/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py\", line 349, in "
      "_worker_loop",
      "    data = fetcher.fetch(index)  # type: ignore[possibly-undefined]",
      "           ^^^^^^^^^^^^^^^^^^^^",
      "  File \"/workspace/trainer/data/gpt_dataset.py\", line 241, in __getitem__",
      "    raise ValueError(f\"document {index} is empty after tokenization\")",
      "ValueError: document 811427 is empty after tokenization",
      "",
  };
  it.blame_rank(rank);
}

namespace {

// The first reduction of gradients in a step; without a data-parallel group, any large collective.
Place gradients_of(Injection& it, int rank, int step) {
  const auto slot = it.communicators.slot_of(Group::data);
  const int at = it.program.find(rank, step, [&](const Call& call) {
    return slot ? call.slot == *slot && is_collective(call) : is_collective(call);
  });
  return {step, at};
}

// DDP's error, as the next forward pass raises it. Its rank is that in the group that reduces
// gradients.
std::vector<std::string> not_reduced(int rank_in_group, bool named) {
  std::vector<std::string> lines = {
      "Traceback (most recent call last):",
      "  File \"/workspace/pretrain_gpt.py\", line 301, in <module>",
      "    main()",
      "  File \"/workspace/trainer/training.py\", line 2021, in train",
      "    output = model(batch)",
      "             ^^^^^^^^^^^^",
      "  File "
      "\"/usr/local/lib/python3.11/site-packages/torch/nn/parallel/distributed.py\", line 1639, in "
      "forward",
      "    inputs, kwargs = self._pre_forward(*inputs, **kwargs)",
      "  File "
      "\"/usr/local/lib/python3.11/site-packages/torch/nn/parallel/distributed.py\", line 1528, in "
      "_pre_forward",
      "    if torch.is_grad_enabled() and self.reducer._rebuild_buckets():",
      "RuntimeError: Expected to have finished reduction in the prior iteration before starting a "
      "new one. This error indicates that your module has parameters that were not used in "
      "producing loss. You can enable unused parameter detection by passing the keyword argument "
      "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by ",
      "making sure all `forward` function outputs participate in calculating loss. ",
      "If you already have done the above, then the distributed data parallel module wasn't able "
      "to locate the output tensors in the return value of your module's `forward` function. "
      "Please include the loss function and the structure of the return value of `forward` of "
      "your module when reporting this issue (e.g. list, dict, iterable).",
  };
  if (named)
    lines.push_back(
        fmt::format("Parameters which did not receive grad for rank {}: "
                    "module.aux_head.weight, module.aux_head.bias",
                    rank_in_group));
  lines.push_back(fmt::format("Parameter indices which did not receive grad for rank {}: 290 291",
                              rank_in_group));
  if (!named)
    lines.push_back(
        " In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO "
        "or DETAIL to print out information about which particular parameters did not receive "
        "gradient on this rank as part of this error");
  lines.push_back("");
  return lines;
}

// DDP was told to look for unused parameters, and finds none.
std::string nothing_unused(const Injection& it, int rank) {
  const std::string front =
      fmt::format("[rank{}]:[W305 02:00:31.204118302 reducer.cpp:1430] ", rank);
  return (it.version.since(19) ? front : std::string("[W reducer.cpp:1389] ")) +
         "Warning: find_unused_parameters=True was specified in DDP constructor, but did not find "
         "any unused parameters in the forward pass. This flag results in an extra traversal of "
         "the autograd graph every iteration,  which can adversely affect performance. If your "
         "model indeed never has any unused parameters in the forward pass, consider turning this "
         "flag off. Note that this warning may be a false positive if your model has flow control "
         "causing later iterations to have unused parameters. (function operator())";
}

}  // namespace

void unused_parameters(Injection& it) {
  if (it.twin) {
    if (kind_of_twin(it) == Twin::benign)
      for (int rank = 0; rank < it.cluster.ranks(); ++rank)
        it.of(rank).prints = {nothing_unused(it, rank)};
    return;
  }
  // A head that no rank uses, or a branch that one rank's batch did not take.
  const bool everybody = it.chance.below(2) == 0;
  const bool named = it.chance.below(2) == 0;
  const int odd = it.any_rank();
  const int step = it.any_step();
  const auto slot = it.communicators.slot_of(Group::data);
  for (int rank = 0; rank < it.cluster.ranks(); ++rank) {
    if (!everybody && rank != odd) continue;
    it.stop(rank, gradients_of(it, rank, step));
    it.of(rank).raises = not_reduced(slot ? it.seat(rank, *slot).rank : rank, named);
    it.blame_rank(rank);
  }
  it.plan.peers_notice = !everybody;
}

}  // namespace faultline::simulation
