// Which workers stopped, or are waited for. For a part that nothing else ties to the job, this
// alone answers whether it mattered.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace faultline {

struct View;

class Standstill {
 public:
  Standstill() = default;
  explicit Standstill(const View& view);

  // Whether this worker (an index into view.workers.all) stopped or is waited for, or no line shows
  // that it worked.
  bool of_worker(std::size_t worker) const {
    return all_ || no_calls_ || workers_.contains(worker);
  }
  // The same for any worker of the host; "": for any worker at all.
  bool on_host(const std::string& host) const;

 private:
  void learn_calls(const View& view);
  void learn_torch(const View& view);
  void learn_remarks(const View& view);

  bool all_ = false;       // all workers stopped, or it is not known which did
  bool no_calls_ = false;  // no line shows that any worker worked
  std::set<std::size_t> workers_;
  std::set<std::string> hosts_;
};

}  // namespace faultline
