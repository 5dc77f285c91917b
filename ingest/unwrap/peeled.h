// A line on its way through the layers: what is left of it, and what the layers knew.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/time.h"

namespace faultline {

struct Peeled {
  std::string_view text;
  std::string_view host;
  std::string_view program;    // the one that wrote it, as syslog or the journal names it
  bool host_is_label = false;  // a pod's or container's name; gives way to a host's own
  EventTime time;
  bool year_assumed = false;  // its stamp has no year
  int rank = -1;
  std::int64_t pid = 0;  // as a launcher's label names it
  int repeated = 1;
  bool from_user_space = false;
  bool in_kernel = false;  // the rest is a kernel's message: no launcher has labelled that
  bool is_remark = false;  // its logger says that it is information or a warning, no error
  bool labelled = false;   // a launcher's label is off; "3: " after it is the program's own text

  // Layers come off from the outside in. Inner ones count more, because they are nearer to the
  // event.
  void named_by_host(std::string_view name);
  void named_by_label(std::string_view name);
  void stamped(const EventTime& stamp);
  void stamped_without_year(const EventTime& stamp);
  void repeat(std::int64_t times);
};

}  // namespace faultline
