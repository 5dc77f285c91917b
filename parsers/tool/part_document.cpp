#include "parsers/tool/part_document.h"

#include <algorithm>

#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::size_t kMostParts = 1024;  // 8 GPUs with 18 links each are 144
constexpr std::size_t kMostNames = 16;
constexpr std::size_t kMostValues = 400;
constexpr std::size_t kMostWords = 256;
constexpr std::size_t kMostBytes = 512;  // in a name or a value
constexpr int kMostForeignLines = 16;    // in a row

void add(std::vector<NamedValue>& values, std::size_t most, std::string_view name,
         std::string_view value) {
  if (values.size() < most)
    values.push_back(
        {std::string(name.substr(0, kMostBytes)), std::string(value.substr(0, kMostBytes))});
}

std::string_view found(const std::vector<NamedValue>& values, std::string_view name) {
  const auto at = std::ranges::find(values, name, &NamedValue::name);
  return at == values.end() ? std::string_view() : std::string_view(at->value);
}

void save(SavedBytesWriter& saved, const std::vector<NamedValue>& values) {
  saved.number(static_cast<std::int64_t>(values.size()));
  for (const NamedValue& value : values) {
    saved.text(value.name);
    saved.text(value.value);
  }
}

void restore(SavedBytesReader& saved, std::vector<NamedValue>& values, std::size_t most) {
  const std::int64_t count = saved.number();
  for (std::int64_t i = 0; i < count && saved.ok(); ++i) {
    const std::string_view name = saved.text();
    add(values, most, name, saved.text());
  }
}

}  // namespace

void OpenPart::name(std::string_view name, std::string_view value) {
  if (!value.empty() && name_of(name).empty()) add(report.names, kMostNames, name, value);
}

void OpenPart::value(std::string_view name, std::string_view value) {
  if (!name.empty()) add(report.values, kMostValues, name, value);
}

std::string_view OpenPart::name_of(std::string_view name) const {
  return found(report.names, name);
}

bool OpenPart::has_value(std::string_view name) const {
  return std::ranges::find(report.values, name, &NamedValue::name) != report.values.end();
}

std::size_t OpenPart::size() const {
  // Called after every line, so only an upper bound that is quick to compute.
  constexpr std::size_t kMostOfOne = sizeof(NamedValue) + 2 * kMostBytes;
  return sizeof *this + line.text.size() +
         (report.names.size() + report.values.size()) * kMostOfOne;
}

void OpenPart::save(SavedBytesWriter& saved) const {
  saved.text(report.kind);
  faultline::save(saved, report.names);
  faultline::save(saved, report.values);
  line.save(saved);
}

void OpenPart::restore(SavedBytesReader& saved) {
  report.kind = saved.text();
  faultline::restore(saved, report.names, kMostNames);
  faultline::restore(saved, report.values, kMostValues);
  line.restore(saved);
}

Document::Line PartDocument::feed(const DocumentLine& line,
                                  std::vector<DocumentReading>& readings) {
  // A line of another host or rank ends the document: its values must not get into our parts.
  if (begun_ && (line.host != host_ || line.rank != rank_)) return Line::after;
  const std::string_view text = without_end_blanks(line.text);
  if (text.empty()) return begun_ ? Line::part : Line::after;
  line_ = &line;
  readings_ = &readings;
  const Line what = read(text);
  if (what == Line::last) {
    end();
    give_all();
  }
  line_ = nullptr;
  readings_ = nullptr;
  if (what != Line::part && what != Line::last) {
    if (what == Line::after || !begun_) return Line::after;
    return ++foreign_ > kMostForeignLines ? Line::after : Line::foreign;
  }
  foreign_ = 0;
  begun_ = true;
  host_ = line.host;
  rank_ = line.rank;
  return what;
}

void PartDocument::finish(std::vector<DocumentReading>& readings) {
  readings_ = &readings;
  end();
  give_all();
  readings_ = nullptr;
}

OpenPart& PartDocument::open(std::string_view kind) {
  if (open_.size() == kMostParts) give_all();
  OpenPart& part = open_.emplace_back();
  part.report.tool = tool_;
  part.report.kind = kind;
  rest_on_line(part);
  return part;
}

void PartDocument::rest_on_line(OpenPart& part) const {
  if (line_ != nullptr) part.line.keep(*line_);
}

OpenPart* PartDocument::find(std::string_view kind, std::string_view name, std::string_view value) {
  return find_if([&](const OpenPart& each) {
    return each.report.kind == kind && each.name_of(name) == value;
  });
}

void PartDocument::give_all() {
  for (OpenPart& part : open_) {
    if (part.report.values.empty() || readings_ == nullptr) continue;
    readings_->push_back(
        {{.fact = std::move(part.report), .host = {}, .pid = 0, .device = -1, .time = time_},
         std::move(part.line)});
  }
  open_.clear();
}

void PartDocument::word(std::string_view text) {
  if (words_.size() < kMostWords) words_.emplace_back(text.substr(0, kMostBytes));
}

void PartDocument::append(std::string& word, std::string_view text) {
  word += text.substr(0, kMostBytes - std::min(kMostBytes, word.size()));
}

std::size_t PartDocument::size() const {
  std::size_t bytes = sizeof *this + words_.size() * (sizeof(std::string) + kMostBytes);
  for (const OpenPart& part : open_) bytes += part.size();
  return bytes;
}

void PartDocument::save(SavedBytesWriter& saved) const {
  saved.number(stage_);
  saved.number(begun_ ? 1 : 0);
  saved.text(host_);
  saved.number(rank_);
  saved.number(foreign_);
  saved.number(time_ ? 1 : 0);
  saved.number(time_ ? time_->time_since_epoch().count() : 0);
  saved.number(static_cast<std::int64_t>(words_.size()));
  for (const std::string& each : words_) saved.text(each);
  saved.number(static_cast<std::int64_t>(open_.size()));
  for (const OpenPart& part : open_) part.save(saved);
}

void PartDocument::restore(SavedBytesReader& saved) {
  stage_ = saved.small_number();
  begun_ = saved.number() != 0;
  host_ = saved.text();
  rank_ = saved.small_number();
  foreign_ = std::clamp(saved.small_number(), 0, kMostForeignLines);
  const bool timed = saved.number() != 0;
  const std::int64_t time = saved.number();
  if (timed) time_ = Timestamp(std::chrono::microseconds(time));
  const std::int64_t words = saved.number();
  for (std::int64_t i = 0; i < words && saved.ok(); ++i) word(saved.text());
  const std::int64_t parts = saved.number();
  for (std::int64_t i = 0; i < parts && saved.ok() && open_.size() < kMostParts; ++i)
    open({}).restore(saved);
}

namespace {
constexpr int kMostIndent = 120;
}  // namespace

int PartDocument::indent_of_line(std::string_view text) {
  return static_cast<int>(std::min<std::size_t>(tool_text::indentation(text), kMostIndent));
}

// Such a word is one character for the indentation, then the key.
void PartDocument::push_key(int indent, std::string_view key) {
  constexpr std::size_t kMostDepth = 12;
  if (words_.size() < kMostDepth) word(static_cast<char>(indent + 1) + std::string(key));
}

int PartDocument::indent_of(const std::string& word) { return word.empty() ? 0 : word.front() - 1; }

std::string_view PartDocument::key_of(const std::string& word) {
  return std::string_view(word).substr(word.empty() ? 0 : 1);
}

std::string PartDocument::path_to(int indent, std::string_view key) {
  while (words_.size() > 1 && indent_of(words_.back()) >= indent) words_.pop_back();
  std::string path;
  for (std::size_t i = 1; i < words_.size(); ++i) path.append(key_of(words_[i])).append(" / ");
  path += key;
  push_key(indent, key);
  return path;
}

}  // namespace faultline
