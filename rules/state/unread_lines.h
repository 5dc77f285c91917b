// Lines that look like trouble and that no rule reads: one for each form, over all sources.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/batch.h"
#include "rules/state/line_ref.h"

namespace faultline {

struct UnreadLine {
  TroubleKind tells = TroubleKind::none;
  LineRef line;               // the first, by the name of its source
  Speaker speaker;            // of that line
  std::uint32_t sources = 0;  // in which this form occurs
};

class UnreadLines {
 public:
  // False: the event is none of these.
  bool apply(std::uint32_t source, const std::string& name, const Batch& batch, const Event& event);

  // By their form.
  const std::map<std::string, UnreadLine>& all() const { return by_form_; }

 private:
  std::map<std::string, UnreadLine> by_form_;
  std::map<std::string, std::string> first_source_;  // its name, by form
};

}  // namespace faultline
