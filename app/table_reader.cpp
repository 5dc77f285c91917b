#include "app/table_reader.h"

#include <charconv>
#include <fstream>

#include "app/manual/command_help.h"

namespace faultline {

TableReader::TableReader(const ConfigTable& table, std::string_view kind, const std::string& called,
                         std::size_t number)
    : table_(table), name_(fmt::format("{} {}", kind, number)) {
  if (has(called)) name_ = fmt::format("{} \"{}\"", kind, one(called));
}

void TableReader::fail(const std::string& key, std::string_view why) const {
  const auto found = table_.values.find(key);
  throw refusal_at(table_.file, found == table_.values.end() ? table_.line : found->second.line,
                   fmt::format("{}: {} {}", name_, key, why));
}

const std::vector<std::string>& TableReader::all(const std::string& key) {
  const ConfigValue& value = value_of(key);
  if (value.kind != ConfigKind::text) fail(key, "must be a text in quotes");
  return value.texts;
}

std::string TableReader::duration(const std::string& key, const DurationLimits& limits) {
  const std::string text = any(key);
  if (text.empty()) return text;
  if (const std::string wrong = wrong_duration(text, limits); !wrong.empty()) fail(key, wrong);
  return text;
}

void TableReader::read(const std::string& key, bool& value) {
  const std::string text = any(key);
  if (text.empty()) return;
  if (text != "true" && text != "false") fail(key, "must be true or false");
  value = text == "true";
}

void TableReader::read(const std::string& key, std::chrono::milliseconds& value) {
  const std::string text = duration(key, {.zero = "at once"});
  if (!text.empty()) value = *setting_duration(text);
}

void TableReader::read(const std::string& key, double& value) {
  const std::string text = any(key);
  if (text.empty()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1))
    fail(key, "must be a number from 0 to 1");
}

std::string TableReader::secret(const std::string& key) {
  const std::string path = one(key);
  if (path.empty()) return {};
  std::ifstream in(path);
  std::string text;
  if (!in || !std::getline(in, text)) fail(key, fmt::format("{}: cannot be read", path));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.empty()) fail(key, fmt::format("{}: its first line is empty", path));
  return text;
}

void TableReader::refuse_others() const {
  for (const auto& [key, value] : table_.values) {
    if (known_.contains(key)) continue;
    const std::string meant = nearest(key, {known_.begin(), known_.end()});
    fail(key, meant.empty() ? fmt::format("is not known; the keys are {}", fmt::join(known_, ", "))
                            : fmt::format("is not known; did you mean \"{}\"?", meant));
  }
}

const ConfigValue& TableReader::value_of(const std::string& key) {
  known_.insert(key);
  static const ConfigValue kNone;
  const auto found = table_.values.find(key);
  return found == table_.values.end() ? kNone : found->second;
}

std::string TableReader::one_of(const std::string& key,
                                const std::vector<std::string>& values) const {
  if (values.size() > 1) fail(key, "takes one value");
  return values.empty() ? std::string() : values.front();
}

// Also accepts numbers and switches in quotes.
std::string TableReader::any(const std::string& key) { return one_of(key, value_of(key).texts); }

}  // namespace faultline
