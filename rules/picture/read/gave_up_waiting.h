// The lines in which ranks gave up waiting for others: later lines may follow from that.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "rules/picture/view.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

class GaveUpWaiting {
 public:
  GaveUpWaiting(const View& view, const TorchCrew& crew);

  bool any_before(const LineRef& line) const;
  bool any_shortly_before(const LineRef& line) const;

 private:
  void add(const LineRef& line);

  std::vector<std::int64_t> times_;                // of all such lines, sorted
  std::map<std::uint32_t, const LineRef*> first_;  // the first of each source
  const LineRef* by_clock_ = nullptr;              // the first of all by the wall clock
};

}  // namespace faultline
