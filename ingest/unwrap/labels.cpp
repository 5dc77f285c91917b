#include "ingest/unwrap/labels.h"

#include <algorithm>

#include "ingest/documents.h"
#include "ingest/unwrap/launcher.h"
#include "ingest/unwrap/month_names.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/syslog.h"

namespace faultline {
namespace {

constexpr std::size_t kMostOfALabel = 255;

// A line that begins a report itself has no label. JSON begins with a sign that much else begins
// with, and one word is too little.
bool shows_a_label(std::string_view line, std::string_view behind) {
  Peeled trial;
  trial.text = behind;
  take(trial.text, "> ");
  if (may_begin_with_month(trial.text) && peel_bsd_syslog(trial, Timestamp{})) return true;
  if (peel_srun_label(trial) && peel_torch_label(trial)) return true;
  const std::string_view head = trial.text;
  return head.find_first_of(" \t") != std::string_view::npos && head.front() != '{' && head.front() != '[' &&
         begins_document(head) && !begins_document(line);
}

}  // namespace

std::optional<LabelledLine> possible_label(std::string_view text) {
  std::string_view rest = text;
  const std::string_view label = take_while(rest, is_name);
  if (label.empty() || label.size() > kMostOfALabel || !take(rest, ':')) return std::nullopt;
  if (!rest.empty() && !take(rest, ' ')) return std::nullopt;
  if (std::ranges::none_of(label, is_letter) || std::ranges::none_of(label, is_digit))
    return std::nullopt;
  if (is_device(label)) return std::nullopt;
  return LabelledLine{label, rest};
}

bool HostLabels::peel(Peeled& line) {
  const auto possible = possible_label(line.text);
  if (!possible || !is_known(possible->label)) {
    const std::string_view whole = line.text;
    const bool peeled = peel_host_label(line);
    const bool shown = peeled ? !line.text.empty() : possible && shows_a_label(whole, possible->text);
    if (possible && shown) learn(possible->label);
    if (peeled || !shown) return peeled;
  }
  line.named_by_label(possible->label);
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
