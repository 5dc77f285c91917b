#include "ingest/documents.h"

#include <algorithm>
#include <array>
#include <vector>

namespace faultline {
namespace {

// For each character, the formats that a line with it in front may begin, in their order.
using FormatsByFirst = std::array<std::vector<const DocumentFormat*>, 256>;

FormatsByFirst formats_by_first() {
  FormatsByFirst formats;
  for (const DocumentFormat& format : all_documents())
    for (std::size_t first = 0; first < formats.size(); ++first)
      if (!format.beside &&
          (format.first_characters.empty() ||
           format.first_characters.find(static_cast<char>(first)) != std::string_view::npos))
        formats[first].push_back(&format);
  return formats;
}

const DocumentFormat& format_beside() {
  static const DocumentFormat& kBeside =
      *std::ranges::find(all_documents(), true, &DocumentFormat::beside);
  return kBeside;
}

// Measuring takes as long as what it remembers. When it is done depends on the line alone, so that
// a body may be cut anywhere.
bool is_to_be_measured(const DocumentLine& line) {
  constexpr std::uint64_t kOneIn = 256;
  constexpr std::size_t kLong = 4096;
  return line.number % kOneIn == 0 || line.text.size() > kLong;
}

}  // namespace

const DocumentFormat* format_beginning_with(std::string_view text) {
  static const FormatsByFirst kByFirst = formats_by_first();
  const std::size_t at = text.find_first_not_of(" \t\r");
  if (at == std::string_view::npos) return nullptr;
  for (const DocumentFormat* format : kByFirst[static_cast<unsigned char>(text[at])])
    if (format->begins(text)) return format;
  return nullptr;
}

bool Documents::wants(std::string_view text) const {
  return open_ != nullptr || format_beside().begins(text) || format_beginning_with(text) != nullptr;
}

bool Documents::read_beside(const DocumentLine& line, std::vector<DocumentReading>& readings) {
  if (!beside_) {
    if (!format_beside().begins(line.text)) return false;
    beside_ = format_beside().create();
  }
  if (beside_->feed(line, readings) != Document::Line::part) return false;
  dialect_ = beside_->dialect();
  return true;
}

bool Documents::read(const DocumentLine& line, std::vector<DocumentReading>& readings) {
  if (read_beside(line, readings)) return true;
  if (open_ && feed(line, readings)) {
    // What an exception says may be the head of a list.
    const DocumentFormat* next = open_ ? nullptr : format_beginning_with(line.text);
    if (next != nullptr && next != format_) begin(*next, line, readings);
    return true;
  }
  const DocumentFormat* format = format_beginning_with(line.text);
  return format != nullptr && begin(*format, line, readings);
}

bool Documents::begin(const DocumentFormat& format, const DocumentLine& line,
                      std::vector<DocumentReading>& readings) {
  finish(readings);  // a document within another: the first was cut short
  format_ = &format;
  open_ = format.create();
  return feed(line, readings);
}

bool Documents::feed(const DocumentLine& line, std::vector<DocumentReading>& readings) {
  const Document::Line what = open_->feed(line, readings);
  const bool mine = what == Document::Line::part || what == Document::Line::last;
  if (mine) dialect_ = open_->dialect();
  if (what == Document::Line::after) finish(readings);
  if (what == Document::Line::last) open_ = nullptr;
  if (open_ && is_to_be_measured(line) && open_->size() > kMaxBytes) {
    open_ = nullptr;
    ++given_up_;
  }
  return mine;
}

void Documents::finish(std::vector<DocumentReading>& readings) {
  if (open_) open_->finish(readings);
  open_ = nullptr;
}

void Documents::close(std::vector<DocumentReading>& readings) {
  finish(readings);
  if (beside_) beside_->finish(readings);
  beside_ = nullptr;
}

std::string Documents::save() const {
  SavedBytesWriter saved;
  if (open_) {
    saved.text(format_->name);
    open_->save(saved);
  }
  if (beside_) {
    saved.text(format_beside().name);
    beside_->save(saved);
  }
  return saved.take();
}

void Documents::restore(std::string_view bytes) {
  open_ = nullptr;
  beside_ = nullptr;
  SavedBytesReader saved(bytes);
  while (!saved.at_end())
    if (!restore_one(saved)) return;
}

bool Documents::restore_one(SavedBytesReader& saved) {
  const std::string_view name = saved.text();
  const auto formats = all_documents();
  const auto format = std::ranges::find(formats, name, &DocumentFormat::name);
  if (format == formats.end()) return false;
  std::unique_ptr<Document> document = format->create();
  document->restore(saved);
  if (!saved.ok()) return false;  // not ours
  if (!format->beside) format_ = &*format;
  (format->beside ? beside_ : open_) = std::move(document);
  return true;
}

}  // namespace faultline
