// Turns records of log shippers that come in a JSON list, or printed over several lines, into one
// record on each line. It adds and removes no byte, so offsets stay the same.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class JsonStage : public Stage {
 public:
  // The first record shows whether this is a shipper's JSON. If it has not ended after this many
  // bytes, everything is passed on as it is.
  static constexpr std::size_t kMostHeld = std::size_t{64} << 10;

  enum class Beginning { no, so_far, yes };
  static Beginning begins(std::string_view start);

  explicit JsonStage(StagePtr next);

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  // Where in the JSON a byte stands.
  struct Place {
    int depth = 0;
    bool in_text = false;
    bool escaped = false;
    void pass(char c);
  };

  enum class State { undecided, joining, as_it_is };

  void look_for_first();
  Result<void> decide(State state);
  Result<void> join(std::string_view bytes);
  char joined(char c);

  StagePtr next_;
  State state_ = State::undecided;
  std::string held_;
  std::size_t looked_at_ = 0;  // bytes of held_
  std::size_t first_ = std::string::npos;
  Place place_;
  bool in_list_ = false;
  bool broken_ = false;
  std::unique_ptr<char[]> buffer_;
};

}  // namespace faultline::unpacking
