// Whether and how a GPU that a kernel speaks of belongs to the job.
#pragma once

#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct GpuMembership {
  enum class Kind {
    rank,
    host_unknown,
    gpu_unknown,
    no_ranks,
    unseen_rank,  // no rank was seen on it, and ranks that nobody saw may be there
    bystander,
  };
  Kind kind = Kind::no_ranks;
  std::vector<std::size_t> workers;  // indices into View::workers

  bool is_open() const { return kind == Kind::host_unknown && workers.empty(); }
};

GpuMembership membership_of(const View& view, const std::string& host, const std::string& gpu);

}  // namespace faultline
