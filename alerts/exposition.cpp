#include "alerts/exposition.h"

#include <fmt/format.h>

namespace faultline {
namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

}  // namespace

void Exposition::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  // In OpenMetrics a counter's family has no suffix, but its samples have.
  if (format_ == MetricsFormat::openmetrics && type == "counter" && name.ends_with("_total"))
    name.remove_suffix(std::string_view("_total").size());
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void Exposition::begin_sample(const Labels& labels, std::string_view suffix) {
  text_ += name_;
  text_ += suffix;
  std::string_view separator = "{";
  for (const auto& [label, value] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", separator, label, escaped(value));
    separator = ",";
  }
  if (!labels.empty()) text_ += '}';
}

std::string Exposition::take() {
  if (format_ == MetricsFormat::openmetrics) text_ += "# EOF\n";
  return std::move(text_);
}

void Exposition::sample(const Labels& labels, double value, std::string_view suffix) {
  begin_sample(labels, suffix);
  text_ += fmt::format(" {}\n", value);
}

void Exposition::sample(const Labels& labels, std::uint64_t value, std::string_view suffix) {
  begin_sample(labels, suffix);
  text_ += fmt::format(" {}\n", value);
}

}  // namespace faultline
