#include "rules/answer/html_parts.h"

#include <fmt/format.h>

#include "rules/answer/shown_text.h"
#include "rules/knowledge/limits.h"

namespace faultline {

std::string clock_in_html(Timestamp time) {
  std::string text = to_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
  if (const std::size_t day_ends = text.find('T'); day_ends != text.npos) text[day_ends] = ' ';
  if (text.ends_with('Z')) text.replace(text.size() - 1, 1, " UTC");
  return text;
}

std::string grouped_digits(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string counted_in_html(std::uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", grouped_digits(count), count == 1 ? one : several);
}

std::string fold_in_html(std::string_view summary, std::string_view content) {
  return fmt::format("<details class=\"fold\"><summary>{}</summary>\n{}</details>\n", summary,
                     content);
}

std::string section_in_html(std::string_view heading, std::string_view content) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", heading, content);
}

std::string code_in_html(std::string_view text) {
  constexpr std::size_t kMostBytes = 1000;
  if (text.empty()) return {};
  return fmt::format("<pre><code>{}</code></pre>\n", shown_in_html(text, kMostBytes));
}

std::string table_in_html(std::string_view name, std::initializer_list<std::string_view> columns,
                          std::string_view rows) {
  std::string head;
  for (const std::string_view column : columns)
    head += fmt::format("<th scope=\"col\">{}</th>", column);
  return fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table><thead><tr>{}"
      "</tr></thead>\n<tbody>{}</tbody></table></div>\n",
      name, head, rows);
}

std::string sureness_in_html(const Finding& finding) {
  return fmt::format("{}{:.0f} % sure",
                     finding.confidence < limits::least_to_blame ? "only possible, " : "",
                     finding.confidence * 100);
}

}  // namespace faultline
