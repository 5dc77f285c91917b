// The keys of one table of the configuration file, read one after the other: each value is there as
// it has to be, or the refusal names the file, the line, the table, the key and the mend.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/durations.h"
#include "app/toml_file.h"

namespace faultline {

template <class Enum>
std::string words_of() {
  std::vector<std::string> words;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
      [&](auto enumerator) { words.emplace_back(enumerator.name); });
  return fmt::format("{}", fmt::join(words, ", "));
}

class TableReader {
 public:
  // kind: what such tables are called; called: the key whose value tells one from the others.
  TableReader(const ConfigTable& table, std::string_view kind, const std::string& called,
              std::size_t number);

  [[noreturn]] void fail(const std::string& key, std::string_view why) const;

  bool has(const std::string& key) const { return table_.values.contains(key); }

  // What is not there is empty, and leaves `value` as it is.
  const std::vector<std::string>& all(const std::string& key);
  std::string one(const std::string& key) { return one_of(key, all(key)); }
  std::string duration(const std::string& key, const DurationLimits& limits);  // a good one
  void read(const std::string& key, bool& value);
  void read(const std::string& key, std::chrono::milliseconds& value);
  void read(const std::string& key, double& value);  // from 0 to 1
  template <class Enum>
    requires std::is_enum_v<Enum>
  void read(const std::string& key, Enum& value) {
    const std::string text = one(key);
    if (text.empty() || boost::describe::enum_from_string(text.c_str(), value)) return;
    fail(key, fmt::format("must be one of {}, not \"{}\"", words_of<Enum>(), text));
  }
  // The first line of a file: secrets have no place in a file that many may read.
  std::string secret(const std::string& key);

  // What nobody has asked for is a mistake.
  void refuse_others() const;

 private:
  const ConfigValue& value_of(const std::string& key);
  std::string one_of(const std::string& key, const std::vector<std::string>& values) const;
  std::string any(const std::string& key);

  const ConfigTable& table_;
  std::string name_;
  std::set<std::string> known_;
};

}  // namespace faultline
