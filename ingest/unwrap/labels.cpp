#include "ingest/unwrap/labels.h"

#include <algorithm>

#include "ingest/documents.h"
#include "ingest/unwrap/launcher.h"
#include "ingest/unwrap/scan.h"

namespace faultline {
namespace {

constexpr std::size_t kMostOfALabel = 255;

// Whether a report begins behind a possible label, which proves the label. A line that itself
// begins another report has no label. JSON and single words prove nothing: they are too common.
bool report_shows_a_label(std::string_view line, std::string_view behind) {
  take(behind, "> ");
  if (behind.find_first_of(" \t") == std::string_view::npos || behind.front() == '{' ||
      behind.front() == '[')
    return false;
  const DocumentFormat* format = format_beginning_with(behind);
  if (format == nullptr) return false;
  const DocumentFormat* of_line = format_beginning_with(line);
  return of_line == nullptr || of_line == format;
}

// rank7, RANK_7, rank-7; -1: it names no rank.
int rank_of(std::string_view label) {
  constexpr std::size_t kMostDigits = 6;
  if (!take(label, "rank") && !take(label, "Rank") && !take(label, "RANK")) return -1;
  if (!take(label, '-')) take(label, '_');
  std::int64_t rank = 0;
  return take_number(label, rank, kMostDigits) && label.empty() ? static_cast<int>(rank) : -1;
}

// 192.168.3.100, as a file of hosts may name them.
bool is_address(std::string_view label) {
  constexpr int kParts = 4;
  std::int64_t part = 0;
  for (int i = 0; i < kParts; ++i)
    if ((i > 0 && !take(label, '.')) || !take_number(label, part, 3)) return false;
  return label.empty();
}

}  // namespace

std::optional<LabelledLine> possible_label(std::string_view text) {
  std::string_view rest = text;
  const std::string_view label = take_while(rest, is_name);
  if (label.size() > kMostOfALabel ||
      (std::ranges::none_of(label, is_letter) && !is_address(label)))
    return std::nullopt;
  if (take(rest, ':')) {
    if (std::ranges::none_of(label, is_digit) || is_device(label)) return std::nullopt;
  } else if (take_blanks(rest) == 0 || !take(rest, '|')) {
    return std::nullopt;
  }
  if (!rest.empty() && !take(rest, ' ')) return std::nullopt;
  return LabelledLine{label, rest, rank_of(label)};
}

bool HostLabels::peel(Peeled& line) {
  const auto possible = possible_label(line.text);
  if (!possible || !is_known(possible->label)) {
    const std::string_view whole = line.text;
    const bool peeled = peel_host_label(line);
    const bool shown =
        peeled ? !line.text.empty() : possible && report_shows_a_label(whole, possible->text);
    if (possible && shown) learn(possible->label);
    if (peeled || !shown) return peeled;
  }
  if (possible->rank >= 0) {
    line.rank = possible->rank;
    line.labelled = true;
  } else {
    line.named_by_label(possible->label);
  }
  line.text = possible->text;
  return true;
}

void HostLabels::learn(std::string_view label) {
  if (known_.size() < kMost && !is_known(label)) known_.emplace(label);
}

void HostLabels::save(SavedWriter& saved) const {
  saved.number(static_cast<std::int64_t>(known_.size()));
  for (const std::string& label : known_) saved.text(label);
}

void HostLabels::restore(SavedReader& saved) {
  known_.clear();
  const std::int64_t count = saved.number();
  for (std::int64_t i = 0; i < count && saved.ok(); ++i) learn(saved.text());
}

}  // namespace faultline
