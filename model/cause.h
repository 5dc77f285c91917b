// The vocabulary of causes: every class a finding may have. A class appears in JSON, metrics, alert
// labels, rule files and URLs, so one that was released is never renamed.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace faultline {

struct CauseClass {
  std::string_view name;  // gpu.off_bus
  // True: a cause makes it visible. A symptom becomes a root cause only when nothing explains it.
  bool is_symptom = false;

  std::string_view family() const { return name.substr(0, name.find('.')); }  // gpu
};

// By family, in the order of the documentation.
std::span<const CauseClass> cause_classes();

// Its place among cause_classes(); of a class that is not known: their number.
std::size_t cause_number(std::string_view name);

// nullptr if there is no such class.
const CauseClass* cause_class(std::string_view name);

// Of a class that is not known: no.
bool is_symptom(std::string_view cause);

// What other logs would tell more of: those of the other end, or of the host.
bool leaves_open_why(std::string_view cause);

// Whether it tells of a machine, so that its next job wants to know: hosts, GPUs, what connects
// them, and faults of programs on a GPU, of which several may be the GPU's own.
bool is_of_a_machine(std::string_view cause);

}  // namespace faultline
