// A setting whose name stands in one line and its value in the next, as Kubernetes prints it:
//   - name: DB_PASSWORD
//     value: ...
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// The setting that the line names at its end, without a value. Empty: there is none.
std::string setting_left_open(std::string_view line);

// Name and value in one line: `text`, from `in_text` on, equals the second line from `in_line` on.
struct SettingInOne {
  std::string text;
  std::size_t in_text = 0;
  std::size_t in_line = 0;
};

// Joins a setting that the line before left open with its value in this line. nullopt: the line
// holds no value of it.
std::optional<SettingInOne> setting_in_one(std::string_view setting, std::string_view line);

}  // namespace faultline
