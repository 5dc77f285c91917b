#include "parsers/tool/part_json.h"

#include <algorithm>

namespace faultline {
namespace {

constexpr std::size_t kMostParts = 1024;
constexpr std::size_t kMostWords = 16;
constexpr std::size_t kMostBytes = 512;

}  // namespace

OpenPart& PartJson::open(std::string_view kind) {
  if (open_.size() == kMostParts) give_all();
  OpenPart& part = open_.emplace_back();
  part.report.kind = kind;
  part.line.keep(line);
  return part;
}

OpenPart* PartJson::find(std::string_view kind, std::string_view name, std::string_view value) {
  const auto part = std::ranges::find_if(open_, [&](const OpenPart& each) {
    return each.report.kind == kind && each.name_of(name) == value;
  });
  return part == open_.end() ? nullptr : &*part;
}

OpenPart& PartJson::find_or_open(std::string_view kind, std::string_view name,
                                 std::string_view value) {
  if (OpenPart* part = find(kind, name, value)) return *part;
  OpenPart& part = open(kind);
  part.name(name, value);
  return part;
}

void PartJson::give_all() {
  for (OpenPart& part : open_) {
    if (part.report.values.empty() || readings == nullptr) continue;
    part.report.tool = tool_;
    readings->push_back(
        {{.fact = std::move(part.report), .host = {}, .pid = 0, .device = -1, .time = time_},
         std::move(part.line)});
  }
  open_.clear();
}

void PartJson::set(std::size_t place, std::string_view text) {
  if (place >= kMostWords) return;
  if (words_.size() <= place) words_.resize(place + 1);
  words_[place] = text.substr(0, kMostBytes);
}

std::string_view PartJson::get(std::size_t place) const {
  return place < words_.size() ? std::string_view(words_[place]) : std::string_view();
}

std::size_t PartJson::size() const {
  std::size_t bytes = sizeof *this + words_.size() * kMostBytes;
  for (const OpenPart& part : open_) bytes += part.size();
  return bytes;
}

void PartJson::save(SavedBytesWriter& saved) const {
  saved.number(static_cast<std::int64_t>(sense_));
  saved.number(time_ ? 1 : 0);
  saved.number(time_ ? time_->time_since_epoch().count() : 0);
  saved.number(std::ssize(words_));
  for (const std::string& word : words_) saved.text(word);
  saved.number(std::ssize(open_));
  for (const OpenPart& part : open_) part.save(saved);
}

void PartJson::restore(SavedBytesReader& saved) {
  sense_ = saved.number() == static_cast<std::int64_t>(Sense::mine) ? Sense::mine : Sense::unsure;
  const bool timed = saved.number() != 0;
  const std::int64_t time = saved.number();
  if (timed) time_ = Timestamp(std::chrono::microseconds(time));
  const std::int64_t words = saved.number();
  for (std::int64_t i = 0; i < words && saved.ok(); ++i)
    set(static_cast<std::size_t>(i), saved.text());
  const std::int64_t parts = saved.number();
  for (std::int64_t i = 0; i < parts && saved.ok() && open_.size() < kMostParts; ++i)
    open_.emplace_back().restore(saved);
}

std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char escaped = text[++i];
    if (escaped == 'n' || escaped == 't' || escaped == 'r')
      plain += ' ';
    else if (escaped == 'u' || escaped == 'b' || escaped == 'f')
      plain += {'\\', escaped};
    else
      plain += escaped;
  }
  while (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

}  // namespace faultline
