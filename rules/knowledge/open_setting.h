// A setting whose name stands in one line and whose value in the next, as in what Kubernetes
// prints:
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

// Both in one line: from `in_text` on, `text` is what the second line holds from `in_line` on.
struct SettingInOne {
  std::string text;
  std::size_t in_text = 0;
  std::size_t in_line = 0;
};

// Nothing: the line holds no value of the setting, which the line before left open.
std::optional<SettingInOne> setting_in_one(std::string_view setting, std::string_view line);

}  // namespace faultline
