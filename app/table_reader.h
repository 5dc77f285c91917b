// Reads the keys of one table of the configuration file one after the other. If a value is wrong,
// the refusal names the file, the line, the table, the key and the fix.
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
  // `kind`: the name of such tables; `called`: the key whose value tells one from the others.
  TableReader(const ConfigTable& table, std::string_view kind, const std::string& called,
              std::size_t number);

  [[noreturn]] void fail(const std::string& key, std::string_view why) const;

  bool has(const std::string& key) const { return table_.values.contains(key); }

  // A key that is not there gives an empty text, and leaves `value` as it is.
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
  // The first line of the file that the key names: secrets do not belong into a file that many may
  // read.
  std::string secret(const std::string& key);

  // Refuses keys that were not read: they are mistakes.
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
