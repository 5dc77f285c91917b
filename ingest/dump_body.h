// Holds a source that consists of a dump until the dump is complete, because it means nothing line
// by line. What turns out to be text is given back to be read as lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parsers/json/json_tree.h"
#include "parsers/torch/flight_recorder.h"

namespace faultline {

class DumpBody {
 public:
  // The most bytes of one JSON dump; for a pickle, see kMaxPickleBytes.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  // Whether bytes at the beginning of a source may belong to a dump.
  static bool may_begin(std::string_view bytes);

  bool open() const { return size() > 0 || passing_over_; }
  bool passes_over() const { return passing_over_; }  // until the source ends
  std::size_t size() const { return held_.size() - dropped_; }
  std::string_view held() const { return std::string_view(held_).substr(dropped_); }

  void add(std::string_view bytes);

  struct Step {
    enum class What {
      wait,        // more has to come
      dump,        // `bytes` of what is held are a dump; drop them
      broken_off,  // what is held is the beginning of a dump; more may come later
      refused,     // and whatever follows is no text either
      text,
    };
    What what = What::wait;
    std::size_t bytes = 0;
    std::vector<DumpedFact> facts;
  };

  // all: nothing follows. now: nothing follows for the time being, so look for a complete dump,
  // even if that is slow.
  Step next(bool all, bool now);

  void drop(std::size_t bytes);
  std::string take();
  void pass_over();

 private:
  Step next_json(bool all);

  std::string held_;
  std::size_t dropped_ = 0;  // so many bytes of held_, from its front, are not held any more
  DumpForm form_ = DumpForm::unsure;
  JsonExtent extent_;
  std::size_t next_look_ = 0;
  bool passing_over_ = false;
};

}  // namespace faultline
