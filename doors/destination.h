// Destination: of which job a message is, and to which of its sources it belongs, as its labels
// say.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "doors/label_names.h"

namespace faultline {

struct Destination {
  std::string job;
  std::string host;
  int rank = -1;
  std::string source;
  auto operator<=>(const Destination&) const = default;
};

// What holds where no label says something else.
struct DestinationDefaults {
  std::string job;   // of messages that name none
  std::string host;  // likewise
  int rank = -1;
  std::string sender;      // its address: stands for a host that is not known
  std::string source;      // the last part of the name of a source
  bool job_given = false;  // the request names the job, which counts more than a label
  bool host_given = false;
};

class DestinationFinder {
 public:
  DestinationFinder(const LabelNames& names, const DestinationDefaults& defaults)
      : names_(&names), defaults_(&defaults) {}

  void label(std::string_view name, std::string_view value);

  Destination destination() const;
  const std::string& program() const { return of(LabelSlot::program); }

 private:
  struct Found {
    std::string value;
    std::size_t rank = SIZE_MAX;
    bool of_namespace = false;
  };
  const std::string& of(LabelSlot slot) const {
    return found_[static_cast<std::size_t>(slot)].value;
  }
  std::string source_name() const;
  std::string job_name() const;

  const LabelNames* names_;
  const DestinationDefaults* defaults_;
  std::array<Found, kLabelSlots> found_;
};

}  // namespace faultline
