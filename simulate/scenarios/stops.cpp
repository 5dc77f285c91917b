// Ranks that come to a halt.
#include "simulate/scenarios/families.h"
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

// Data does not flow, and nothing tells where it is held up.
void group_stalled(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  const Call& call = it.call_at(rank, place);
  it.block(it.seat(rank, call.slot).communicator, place);
  it.blame_communicator(rank, call.slot);
}

// The program has called all it had to; its GPU is still in a kernel of its own.
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

}  // namespace faultline::simulation
