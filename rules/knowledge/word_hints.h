// What a line that no rule reads may be about, judged by its words alone (hints.yaml).
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
  std::vector<std::size_t> words;  // groups: the line must hold a word of each
  std::vector<std::string> samples;
  // What the line may name: the rank that printed it, or a part.
  bool names_rank = false;
  bool names_gpu = false;
  bool names_nic = false;
};

// RE2 patterns; upper and lower case are the same.
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

  // The first hint that fits the line, as an index into all(). The patterns are compiled for the
  // first line: most answers need none of them. Throws std::invalid_argument with the pattern if
  // one is not valid.
  std::optional<std::size_t> of(std::string_view line) const;

  // The first name of a GPU or NIC in the line; empty: there is none.
  std::string gpu_in(std::string_view line) const { return name_in(line, gpus_); }
  std::string nic_in(std::string_view line) const { return name_in(line, nics_); }

  // The more specific ones come first.
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
