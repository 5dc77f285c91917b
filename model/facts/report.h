// What tools report that look at a job from outside, not through its ranks' logs: ncclras, NCCL's
// Inspector, a proxy's dump.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// A report begins: what earlier reports of this tool said may no longer hold.
struct ReportOpened {
  static constexpr std::string_view kKind = "report_opened";
  std::string tool;        // ncclras, proxy
  bool names_all = false;  // false: it names only what is unusual
  bool operator==(const ReportOpened&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReportOpened, (), (tool, names_all))

// One rank, as a tool sees it at one moment. A later report on the same rank replaces this one.
struct RankReport {
  static constexpr std::string_view kKind = "rank_report";
  std::string tool;             // ncclras, ncclras_monitor, inspector
  std::string communicator_id;  // 0x…: equal to the commId of Init lines from 2.26 on
  int nranks = 0;
  int rank = -1;     // in the communicator; -1: not named
  int ranks = 1;     // how many ranks this is about; if more than one, they are not named
  std::string host;  // as the tool names it; ncclras gives an address
  std::int64_t pid = 0;
  int cuda_device = -1;
  // running, init, finalize, abort, missing, unresponsive, dead; empty: not said
  std::string state;
  std::string error;  // the asynchronous error, if there is one
  // AllReduce, …: what the counts below count; "collective": all kinds together; empty: no counts
  std::string operation;
  std::optional<std::uint64_t> launched;   // how many, so far
  std::optional<std::uint64_t> completed;  // the same
  bool operator==(const RankReport&) const = default;
};
BOOST_DESCRIBE_STRUCT(RankReport, (),
                      (tool, communicator_id, nranks, rank, ranks, host, pid, cuda_device, state,
                       error, operation, launched, completed))

// One communicator, as a tool sees it.
struct CommunicatorReport {
  static constexpr std::string_view kKind = "communicator_report";
  std::string tool;
  std::string communicator_id;
  int nranks = 0;
  int ranks_seen = 0;
  int ranks_missing = 0;
  std::string status;  // RUNNING, INIT, ABORT, …
  std::string errors;  // OK, MISMATCH, INCOMPLETE, ERROR; several joined by commas
  bool operator==(const CommunicatorReport&) const = default;
};
BOOST_DESCRIBE_STRUCT(CommunicatorReport, (),
                      (tool, communicator_id, nranks, ranks_seen, ranks_missing, status, errors))

// An operation that a proxy thread is in the middle of.
struct ProxyOperation {
  static constexpr std::string_view kKind = "proxy_operation";
  std::uint64_t operation = 0;  // its number as dumped, tag removed
  bool point_to_point = false;
  std::string kind;  // Send, Recv, Coll
  int peer = -1;
  int channel = -1;
  std::string waits_for;  // gpu, network, flush, post, done; empty: not said
  bool operator==(const ProxyOperation&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProxyOperation, (),
                      (operation, point_to_point, kind, peer, channel, waits_for))

}  // namespace faultline
