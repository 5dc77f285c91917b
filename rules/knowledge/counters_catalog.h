// What the field knows of counters, as data (counters.yaml): which spellings are one counter, how
// wide it is, and what its growth means.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace faultline {

struct CounterWidth {
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  bool saturates = false;  // stays at the most it can hold
  bool wraps = false;      // begins again at 0
  bool open = false;       // the tool does not say which of two widths it read
};

// What the growth of some counters is a sign of.
struct CounterClass {
  std::string name;             // physical, congestion, …
  Cause finding = Cause::none;  // none: it accuses nobody
  bool names_no_part = false;   // the port that counts is not the one that is bad
  std::string says;             // follows the name of the part
  std::vector<Action> actions;
};

struct CounterMeaning {
  std::string name;  // SymbolErrorCounter; # stands for a number
  const CounterClass* of = nullptr;
  CounterWidth width;
  CounterWidth extended;
  std::map<std::string, CounterWidth, std::less<>> widths;  // by tool
  std::optional<double> suspect;                            // growth per hour, above which …
  std::optional<double> faulty;
  std::optional<double> notable;  // what one reading must exceed to be mentioned
  // It counts some of what this one counts; one reading above that share means something.
  std::string of_all;
  double most_share = 0;
  double siblings = 0;             // 0: it is judged by itself
  double least = 0;                // beside siblings: less than that means nothing
  std::vector<std::string> minus;  // normalised
  bool alone = false;
  bool gauge = false;
  std::string means;
};

class CountersCatalog {
 public:
  // nullptr: no counter that anything is known of.
  const CounterMeaning* find(std::string_view spelling) const;

  CounterWidth width_of(const CounterMeaning& counter, std::string_view tool) const;

  // The tool's word for how long ago its counters were cleared; nullptr: it has none.
  const std::string* clear_age(std::string_view tool) const;

  // For how long (in hours) what rose before must stand still to be over.
  double over_after() const { return over_after_; }

  const std::map<std::string, CounterClass, std::less<>>& classes() const { return classes_; }
  const std::vector<CounterMeaning>& all() const { return counters_; }

  // Letters and digits in lower case.
  static std::string normalised(std::string_view spelling);

 private:
  friend CountersCatalog read_counters(std::string_view file, std::string_view text);
  std::size_t index_of(const std::string& normalised) const;

  std::map<std::string, CounterClass, std::less<>> classes_;  // its nodes do not move
  std::vector<CounterMeaning> counters_;
  std::map<std::string, std::size_t, std::less<>> by_spelling_;
  std::vector<std::string> prefixes_;
  std::vector<std::string> suffixes_;
  std::set<std::string, std::less<>> extended_tools_;
  std::set<std::string, std::less<>> either_tools_;
  std::map<std::string, std::string, std::less<>> clear_age_;
  double over_after_ = 0;
};

}  // namespace faultline
