// Whom others wait for, and who stopped: the one answer to "did this matter to anybody", for parts
// that nothing else ties to the job.
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

  // Whether this worker (an index into view.workers.all) stopped or is waited for, or no line tells
  // that it worked.
  bool of_worker(std::size_t worker) const {
    return all_ || no_calls_ || workers_.contains(worker);
  }
  // Whether any worker of the host did. "": whether anybody did.
  bool on_host(const std::string& host) const;

 private:
  void learn_calls(const View& view);
  void learn_torch(const View& view);
  void learn_remarks(const View& view);

  bool all_ = false;       // everybody stands, or nothing tells who does
  bool no_calls_ = false;  // no line tells that anybody worked
  std::set<std::size_t> workers_;
  std::set<std::string> hosts_;
};

}  // namespace faultline
