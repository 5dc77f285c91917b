#include "rules/state/unread_lines.h"

#include "model/line_form.h"

namespace faultline {
namespace {

constexpr std::size_t kMostForms = 4096;  // in a job; each source has a few

}  // namespace

bool UnreadLines::apply(std::uint32_t source, const std::string& name, const Batch& batch,
                        const Event& event) {
  const auto* trouble = std::get_if<UnreadTrouble>(&event.fact);
  if (trouble == nullptr) return false;
  std::string form = form_of_line(trouble->text);
  const auto known = by_form_.find(form);
  if (known == by_form_.end() && by_form_.size() >= kMostForms) return true;
  UnreadLine& line = known == by_form_.end() ? by_form_[form] : known->second;
  std::string& first = first_source_[form];
  ++line.sources;
  if (line.sources > 1 && first <= name) return true;
  first = name;
  line.tells = trouble->tells;
  line.line = {source, event.line, event.offset, event.time, event.text};
  line.speaker = batch.speakers[event.speaker];
  return true;
}

}  // namespace faultline
