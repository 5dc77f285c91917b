// To which attempt of the job a line without a process belongs: by earlier lines of its source, by
// the files beside it, by the folder that a launcher makes for each attempt, by training steps
// after it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

class SourceAttempts {
 public:
  explicit SourceAttempts(const View& view);

  // Whether the line belongs to the view's attempt; true if it is not known.
  bool in_attempt(const LineRef& line) const;

 private:
  static constexpr int kSeveral = -1;

  struct Beginning {
    std::uint64_t line = 0;
    int attempt = 0;
  };

  void learn_from_members();
  void learn_from_folders();
  void learn_from_steps();
  bool trained_on_after(const LineRef& line) const;
  int attempt_by_lines(const LineRef& line) const;           // 0: not known
  int attempt_by_files_beside(std::string_view path) const;  // 0: not known

  const View& view_;
  std::map<std::uint32_t, std::vector<Beginning>> beginnings_;  // by source, by line
  std::unordered_map<std::string, int> of_folder_;       // the attempt of all members below it
  std::unordered_map<std::string, long> latest_folder_;  // "logs/attempt_" -> the highest number
  // When the last step was trained: by stamps without a time zone (true) and with one (false).
  std::map<bool, std::int64_t> last_step_us_;
  std::map<std::pair<std::uint32_t, bool>, std::int64_t> last_step_us_of_;  // by source
};

}  // namespace faultline
