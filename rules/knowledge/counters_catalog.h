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
  bool saturates = false;  // stays at its maximum
  bool wraps = false;      // begins again at 0
  bool open = false;       // the tool does not say which of two widths it read
};

// What the growth of a class of counters means.
struct CounterClass {
  std::string name;             // physical, congestion, …
  Cause finding = Cause::none;  // none: it accuses nobody
  bool names_no_part = false;   // the fault is not at the port that counts
  std::string says;             // follows the name of the part
  std::vector<Action> actions;
};

struct CounterMeaning {
  std::string name;  // SymbolErrorCounter; # stands for a number
  const CounterClass* of = nullptr;
  CounterWidth width;
  CounterWidth extended;
  std::map<std::string, CounterWidth, std::less<>> widths;  // by tool
  std::optional<double> suspect;  // growth per hour above which a part is suspected
  std::optional<double> faulty;   // or called faulty
  std::optional<double> notable;  // what one reading must exceed to be mentioned
  // This counter counts a part of what `of_all` counts; one reading above most_share of that means
  // something.
  std::string of_all;
  double most_share = 0;
  double siblings = 0;  // so many times the growth of its siblings is suspect; 0: judged by itself
  double least = 0;     // with siblings: smaller growth means nothing
  std::vector<std::string> minus;  // normalised
  bool alone = false;
  bool gauge = false;
  std::string means;
};

class CountersCatalog {
 public:
  // nullptr: an unknown counter.
  const CounterMeaning* find(std::string_view spelling) const;

  CounterWidth width_of(const CounterMeaning& counter, std::string_view tool) const;

  // The name under which the tool prints how long ago its counters were cleared; nullptr: it does
  // not print that.
  const std::string* clear_age(std::string_view tool) const;

  // For how many hours a counter must stand still until its earlier growth is over.
  double over_after() const { return over_after_; }

  const std::map<std::string, CounterClass, std::less<>>& classes() const { return classes_; }
  const std::vector<CounterMeaning>& all() const { return counters_; }

  // Only letters, digits and #, in lower case.
  static std::string normalised(std::string_view spelling);

 private:
  friend CountersCatalog read_counters(std::string_view file, std::string_view text);
  std::size_t index_of(const std::string& normalised) const;

  std::map<std::string, CounterClass, std::less<>> classes_;  // counters_ points to its nodes
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
