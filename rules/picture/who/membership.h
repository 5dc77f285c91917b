// Whether, and how, a GPU in a kernel log belongs to the job.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/picture/view.h"
#include "rules/picture/who/rank_hosts.h"

namespace faultline {

struct GpuMembership {
  enum class Kind {
    rank,
    host_unknown,
    gpu_unknown,
    no_ranks,
    unseen_rank,  // no rank was seen on it, but ranks that were not seen may be there
    bystander,
  };
  Kind kind = Kind::no_ranks;
  std::vector<std::size_t> workers;  // indices into View::workers

  bool is_open() const { return kind == Kind::host_unknown && workers.empty(); }
};

class Memberships {
 public:
  explicit Memberships(const View& view) : view_(view) {}

  GpuMembership of(const std::string& host, const std::string& gpu);

 private:
  bool may_have_unseen_ranks(const std::string& host);
  bool lacks_ranks(const std::string& host);
  bool is_host_without_process(const std::string& host);

  const View& view_;
  // Computed at the first use.
  std::optional<RankHosts> rank_hosts_;
  std::map<std::string, bool> lacks_ranks_;  // by host
  std::optional<std::set<std::string>> process_hosts_;
};

}  // namespace faultline
