// The fingerprint of a start: what every host said of itself, to compare with another start.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rules/state/setup.h"

namespace faultline {

// Keys are the questions of settings ("version nccl", "environment NCCL_ALGO", "devices IB"), and
//   network connected     NET/IB, NET/Socket
//   transport within      P2P/CUMEM, SHM/direct: between GPUs of the host
//   gdr send, receive     on, off: of connections over RDMA
//   channels collective   of the largest communicator; so is
//   rings
using HostAnswers = std::map<std::string, std::set<std::string>, std::less<>>;

struct StartFingerprint {
  std::map<std::string, HostAnswers> hosts;  // by name; each process of a host may give an answer
  int ranks = 0;                             // of the largest communicator
  bool operator==(const StartFingerprint&) const = default;
};

StartFingerprint fingerprint_of(const Setup& setup,
                                const std::function<bool(const ProcessKey&)>& is_of_the_start);

// These hosts give answers now that they did not give before. A new host is compared with all hosts
// of the earlier start.
struct Change {
  std::string question;
  std::set<std::string> before;
  std::set<std::string> now;
  std::vector<std::string> hosts;
  bool operator==(const Change&) const = default;
};

// A question that only one of the two starts answers is no change. Connections are compared only if
// the number of ranks is the same.
std::vector<Change> compare(const StartFingerprint& now, const StartFingerprint& before);

// NCCL ends a value that it had to cut like this; a cut value equals no other.
bool is_cut(std::string_view value);

}  // namespace faultline
