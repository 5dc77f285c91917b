// JobState: all that is known about one job, folded from its batches and nothing else. Folding the
// stored batches again rebuilds it, and `diagnose` on files gives the same state as a server that
// received them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"
#include "model/result.h"
#include "rules/state/addresses.h"
#include "rules/state/boot_times.h"
#include "rules/state/call_times.h"
#include "rules/state/flight.h"
#include "rules/state/hardware.h"
#include "rules/state/kernel_lines.h"
#include "rules/state/nics.h"
#include "rules/state/parts.h"
#include "rules/state/processes.h"
#include "rules/state/progress.h"
#include "rules/state/remarks.h"
#include "rules/state/reports.h"
#include "rules/state/setup.h"
#include "rules/state/sources.h"
#include "rules/state/torch.h"
#include "rules/state/traffic.h"
#include "rules/state/unread_lines.h"

namespace faultline {

// Whether the calls of a batch are to be counted, or are in the state already.
enum class CallsAre { new_ones, counted };

class JobState {
 public:
  explicit JobState(std::string name) : name_(std::move(name)) {}

  // Batches of one source must come in order.
  void apply(const Source& source, const Batch& batch, Timestamp received,
             CallsAre calls = CallsAre::new_ones);

  // The result of the calls of all batches so far: small, however many there were. A state that
  // takes it and then gets the same batches without counting their calls is the same state.
  std::string packed_calls() const;
  // Call it before any batch. Safe for any bytes: what packed_calls() did not write is refused.
  Result<void> take_packed_calls(std::string_view bytes);
  // Whether the sources to which the packed calls refer have come.
  bool has_sources_of_calls() const { return sources_.all().size() >= least_sources_; }

  // Whether a state that is folded without this event, or without it and others that are not
  // needed, may differ from this one, now or after any more batches. `event` is of a batch that was
  // applied.
  bool needs(const Source& source, const Batch& batch, const Event& event) const;

  const std::string& name() const { return name_; }
  const Sources& sources() const { return sources_; }
  const Progress& progress() const { return progress_; }
  const CallTimes& call_times() const { return call_times_; }
  const Processes& processes() const { return processes_; }
  const Traffic& traffic() const { return traffic_; }
  const Hardware& hardware() const { return hardware_; }
  const KernelLines& kernel_lines() const { return kernel_lines_; }
  const Nics& nics() const { return nics_; }
  const BootTimes& boot_times() const { return boot_times_; }
  const Parts& parts() const { return parts_; }
  const Remarks& remarks() const { return remarks_; }
  const AddressBook& addresses() const { return addresses_; }
  const Setup& setup() const { return setup_; }
  const Reports& reports() const { return reports_; }
  const Flight& flight() const { return flight_; }
  const Torch& torch() const { return torch_; }
  const UnreadLines& unread_lines() const { return unread_lines_; }

  // The line's time. If the line has only the kernel's clock, the wall clock is added if it can be
  // worked out.
  EventTime dated(const LineRef& line) const;

  // Lines that were not kept, because there were too many of their kind; only kinds with any. They
  // may hold the one that matters.
  struct LeftOut {
    std::string_view what;
    std::uint64_t lines = 0;
  };
  std::vector<LeftOut> left_out() const;

  // When data of the job was last received; the latest time in its lines.
  std::optional<Timestamp> last_activity() const { return last_activity_; }
  std::optional<Timestamp> last_told() const { return last_told_; }

  // The host of a kernel line: the one that it names, else its source's. "" if not known.
  std::string host_of(const std::string& spoken_host, std::uint32_t source) const {
    return spoken_host.empty() ? sources_.host_of(source) : spoken_host;
  }

 private:
  void apply_kernel(std::uint32_t source, const Batch& batch, const Event& event);

  std::string name_;
  Sources sources_;
  Progress progress_;
  CallTimes call_times_;
  Processes processes_;
  Traffic traffic_;
  Hardware hardware_;
  KernelLines kernel_lines_;
  Nics nics_;
  BootTimes boot_times_;
  Parts parts_;
  Remarks remarks_;
  AddressBook addresses_;
  Setup setup_;
  Reports reports_;
  Flight flight_;
  Torch torch_;
  UnreadLines unread_lines_;
  std::uint64_t events_left_out_ = 0;  // that came in no batch
  std::size_t least_sources_ = 0;      // to which the packed calls refer
  std::optional<Timestamp> last_activity_;
  std::optional<Timestamp> last_told_;
};

}  // namespace faultline
