// Advice of the catalog made concrete: whose GPU, which rank, on which host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rules/knowledge/catalog.h"

namespace faultline {

// What the placeholders of advice.yaml stand for. One that is not known is printed as "<host>", so
// that a command cannot be run on the wrong thing.
struct AdviceSubject {
  std::string host;  // {host}
  std::string gpu;   // {gpu}: 0000:3b:00.0; {gpu_smi}: 00000000:3B:00.0, as nvidia-smi has it
  std::optional<int> rank;  // {rank}
  std::string nic;          // {nic}: mlx5_4
  std::string port;         // {port}: 1
};

AdviceSubject advice_subject(const Subject& subject);

std::string fill_in(std::string_view text, const AdviceSubject& subject);
Action fill_in(const Action& action, const AdviceSubject& subject);

// The first placeholder that means nothing here, without its braces; empty if all are known.
std::string_view unknown_placeholder(std::string_view text);

}  // namespace faultline
