// When the attempt ran, worked out once from every dated line of NCCL, PyTorch and launchers: its
// beginning and its end, as far as lines show them. All rules that ask whether something was
// before, during or after the job ask here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"
#include "rules/knowledge/phase.h"
#include "rules/picture/when/endurance.h"
#include "rules/state/line_ref.h"

namespace faultline {

struct View;

// A boot of a host in one log. Uptimes within it can be compared.
struct BootOfLog {
  std::uint32_t source = 0;
  std::string spoken_host;
  std::uint64_t boot = 0;
  auto operator<=>(const BootOfLog&) const = default;
};
BootOfLog boot_of(const View& view, const std::string& spoken_host, const LineRef& line);

// A sighting to be placed in time.
struct Sighted {
  EventTime time;                    // of the last line
  std::string host;                  // empty: not known
  const Endurance* ranks = nullptr;  // that it could hold up; nullptr: all ranks of the host
  std::optional<BootOfLog> log;      // the kernel log that has the line, if any
  bool lasts = false;                // the condition lasts, so no rank can outlive it
};

class Phases {
 public:
  Phases() = default;
  explicit Phases(const View& view);

  Phase of(const Sighted& sighted) const;

  // Of these ranks, as far as they may be on the host; of all that may be, if none is named.
  Endurance endurance(const std::string& host, const std::vector<int>& ranks) const;

  // Whether the time is surely before the first line of the attempt.
  bool is_before(const EventTime& time, const std::string& host = "") const;

 private:
  // The earliest or latest stamp with a zone, and the one without. The two cannot be compared.
  using Stamps = std::array<EventTime, 2>;

  struct Life {
    Stamps called;  // its last call
    Stamps acted;   // when it ended by itself
    Outlived outlived;
  };
  struct Crowd {
    std::vector<std::size_t> lives;  // ascending
    Endurance endurance;
  };
  // Uptimes of kernel lines that name processes of the job.
  struct Named {
    std::int64_t first_us = 0;
    std::int64_t last_us = 0;
    std::optional<std::int64_t> cleaned_up_us;  // of the first cleanup
  };

  void learn_calls(const View& view);
  void learn_torch(const View& view);
  void learn_endurance();
  void learn_kernels(const View& view);
  void choose_end(const std::vector<EventTime>& ends);
  void began_at(const EventTime& time, const std::string& host);
  Order order_to_beginning(const EventTime& time, const std::string& host) const;
  bool is_after_end(const EventTime& time) const;
  bool is_outlived(const Sighted& sighted) const;
  Phase by_kernel(const Sighted& sighted) const;
  const Crowd& crowd_on(const std::string& host) const;
  template <class Do>
  void for_each_crowd(Do&& act);

  Stamps begun_;                            // the beginning of the attempt
  std::map<std::string, Stamps> begun_on_;  // by host
  Stamps sign_;                             // the earliest sign of the attempt, of any kind
  Stamps first_call_;
  Stamps last_call_;
  Stamps ended_;  // the first report of its end
  bool has_members_ = false;
  std::vector<Life> lives_;  // by worker
  std::map<int, std::vector<std::size_t>> of_rank_;
  std::map<std::string, Crowd> of_host_;
  std::map<std::string, Crowd> of_sender_;
  Crowd unnamed_;
  Crowd everyone_;
  std::map<BootOfLog, Named> named_;
};

}  // namespace faultline
