// The fingerprint of a start: what every host said of itself, to be held against another start's.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rules/state/setup.h"

namespace faultline {

// Questions are those of settings ("version nccl", "environment NCCL_ALGO", "devices IB"), and
//   network connected     NET/IB, NET/Socket
//   transport within      P2P/CUMEM, SHM/direct: between GPUs of the host
//   gdr send, receive     on, off: of connections over RDMA
//   channels collective   of the largest communicator; as are
//   rings
using HostAnswers = std::map<std::string, std::set<std::string>, std::less<>>;

struct StartFingerprint {
  std::map<std::string, HostAnswers> hosts;  // by name; a host may give an answer per process
  int ranks = 0;                             // of the largest communicator
  bool operator==(const StartFingerprint&) const = default;
};

StartFingerprint fingerprint_of(const Setup& setup,
                                const std::function<bool(const ProcessKey&)>& is_of_the_start);

// Hosts answer now what no answer of theirs was before. A host that is new is held against all the
// hosts of before.
struct Change {
  std::string question;
  std::set<std::string> before;
  std::set<std::string> now;
  std::vector<std::string> hosts;
  bool operator==(const Change&) const = default;
};

// What is only known of one of the two is no change. How ranks are connected is compared only
// where they are as many as before.
std::vector<Change> compare(const StartFingerprint& now, const StartFingerprint& before);

// What NCCL could not print whole ends so, and is equal to nothing.
bool is_cut(std::string_view value);

}  // namespace faultline
