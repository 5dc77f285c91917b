#include "ingest/documents.h"

#include <algorithm>
#include <array>
#include <vector>

namespace faultline {
namespace {

// The first word of the saved form. The older form has no such word, at most one open document, and
// no speaker.
constexpr std::string_view kWithSpeakers = "by speaker";

// For each character, the formats that a line may begin if that is its first character, in order.
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

constexpr auto kWhenFed = [](const auto& entry) { return entry.second.last_line; };

// Measuring takes time in proportion to what a document remembers, so it is done seldom. When it is
// done depends on the lines alone, so that a body may be cut anywhere.
bool is_to_be_measured(std::int64_t lines, const DocumentLine& line) {
  constexpr std::int64_t kOneIn = 256;
  constexpr std::size_t kLong = 4096;
  return lines % kOneIn == 0 || line.text.size() > kLong;
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
  return is_open() || format_beside().begins(text) || format_beginning_with(text) != nullptr;
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

// A line without a label may continue a document that a labelled line began, and vice versa.
Documents::Opens::iterator Documents::open_for(const DocumentLine& line) {
  const Speaker speaker{std::string(line.host), line.rank};
  if (const auto own = open_.find(speaker); own != open_.end()) return own;
  if (speaker != Speaker()) return open_.find({});
  return std::ranges::max_element(open_, {}, kWhenFed);
}

bool Documents::read(const DocumentLine& line, std::vector<DocumentReading>& readings) {
  if (read_beside(line, readings)) return true;
  if (!open_.empty()) {
    const auto at = open_for(line);
    const DocumentFormat* known = at == open_.end() ? nullptr : at->second.format;
    const std::size_t were_open = open_.size();
    if (known != nullptr && feed(at, line, readings)) {
      // The last line of one document may begin another: an exception may say the head of a list.
      const bool ended = open_.size() < were_open;
      const DocumentFormat* next = ended ? format_beginning_with(line.text) : nullptr;
      if (next != nullptr && next != known) begin(*next, line, readings);
      return true;
    }
  }
  const DocumentFormat* format = format_beginning_with(line.text);
  return format != nullptr && begin(*format, line, readings);
}

bool Documents::begin(const DocumentFormat& format, const DocumentLine& line,
                      std::vector<DocumentReading>& readings) {
  // A document within another: the first was cut short.
  if (const auto at = open_.empty() ? open_.end() : open_for(line); at != open_.end())
    finish(at, readings);
  if (open_.size() >= kMostSpeakers)
    finish(std::ranges::min_element(open_, {}, kWhenFed), readings);
  const auto at =
      open_.insert_or_assign({std::string(line.host), line.rank}, Open{&format, format.create()})
          .first;
  return feed(at, line, readings);
}

bool Documents::feed(Opens::iterator at, const DocumentLine& line,
                     std::vector<DocumentReading>& readings) {
  Open& open = at->second;
  open.last_line = line.number;
  ++open.lines;
  const Document::Line what = open.document->feed(line, readings);
  const bool mine = what == Document::Line::part || what == Document::Line::last;
  if (mine) dialect_ = open.document->dialect();
  if (what == Document::Line::after) {
    finish(at, readings);
  } else if (what == Document::Line::last) {
    open_.erase(at);
  } else if (is_to_be_measured(open.lines, line) &&
             open.document->size() > kMaxBytes / open_.size()) {
    open_.erase(at);
    ++given_up_;
  }
  return mine;
}

void Documents::finish(Opens::iterator at, std::vector<DocumentReading>& readings) {
  at->second.document->finish(readings);
  open_.erase(at);
}

void Documents::close(std::vector<DocumentReading>& readings) {
  while (!open_.empty()) finish(open_.begin(), readings);
  if (beside_) beside_->finish(readings);
  beside_ = nullptr;
}

std::string Documents::save() const {
  if (open_.empty() && !beside_) return {};
  SavedBytesWriter saved;
  saved.text(kWithSpeakers);
  for (const auto& [speaker, open] : open_) {
    saved.text(open.format->name);
    saved.text(speaker.host);
    saved.number(speaker.rank);
    saved.number(static_cast<std::int64_t>(open.last_line));
    saved.number(open.lines);
    open.document->save(saved);
  }
  if (beside_) {
    saved.text(format_beside().name);
    beside_->save(saved);
  }
  return saved.take();
}

void Documents::restore(std::string_view bytes) {
  open_.clear();
  beside_ = nullptr;
  SavedBytesReader saved(bytes);
  const bool with_speakers = SavedBytesReader(bytes).text() == kWithSpeakers;
  if (with_speakers) saved.text();
  while (!saved.at_end())
    if (!restore_one(saved, with_speakers)) return;
}

bool Documents::restore_one(SavedBytesReader& saved, bool with_speaker) {
  const std::string_view name = saved.text();
  const auto formats = all_documents();
  const auto format = std::ranges::find(formats, name, &DocumentFormat::name);
  if (format == formats.end()) return false;
  Speaker speaker;
  Open open{.format = &*format};
  if (with_speaker && !format->beside) {
    speaker.host = saved.text();
    speaker.rank = saved.small_number();
    open.last_line = static_cast<std::uint64_t>(saved.number());
    open.lines = saved.number();
  }
  open.document = format->create();
  open.document->restore(saved);
  if (!saved.ok()) return false;  // these bytes are not ours
  if (format->beside)
    beside_ = std::move(open.document);
  else
    open_.insert_or_assign(std::move(speaker), std::move(open));
  return true;
}

}  // namespace faultline
