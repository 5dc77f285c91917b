// What a line that nobody reads may be about, told by its words alone (hints.yaml).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cause.h"

namespace faultline {

struct WordHint {
  Cause cause = Cause::none;
  std::string about;               // "a disk or its file system"
  std::vector<std::size_t> words;  // of each of these groups one must stand in the line
  std::vector<std::string> samples;
  // What its line may name: the rank that printed it, or a part in its words.
  bool names_rank = false;
  bool names_gpu = false;
  bool names_nic = false;
};

// Patterns of RE2, whatever the case.
struct WordGroup {
  std::string name;
  std::vector<std::string> patterns;
};

class WordHints {
 public:
  WordHints();
  // `never`: lines that give no hint. `gpus`, `nics`: how a line names one.
  WordHints(std::vector<WordGroup> words, std::vector<WordHint> hints, WordGroup never,
            WordGroup gpus, WordGroup nics);
  ~WordHints();

  // The first that fits the line, as an index into all(). The patterns are compiled when the first
  // line asks: most answers need none of them. Throws std::invalid_argument that names a pattern
  // that is none.
  std::optional<std::size_t> of(std::string_view line) const;

  // The first name of one in the line; empty: there is none.
  std::string gpu_in(std::string_view line) const { return name_in(line, gpus_); }
  std::string nic_in(std::string_view line) const { return name_in(line, nics_); }

  // Those that tell more come first.
  const std::vector<WordHint>& all() const { return hints_; }

 private:
  class Compiled;

  std::string name_in(std::string_view line, std::size_t group) const;

  std::vector<WordGroup> words_;  // those of hints, and the three below
  std::size_t never_ = 0;
  std::size_t gpus_ = 0;
  std::size_t nics_ = 0;
  std::vector<WordHint> hints_;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace faultline
