// Fills in the catalog's advice: which GPU, which rank, which host.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/knowledge/catalog.h"

namespace faultline {

// The values of the placeholders in the catalog's texts.
struct AdviceSubject {
  std::string host;  // {host}
  std::string gpu;   // {gpu}: 0000:3b:00.0; {gpu_smi}: 00000000:3B:00.0, as nvidia-smi has it
  std::optional<int> rank;         // {rank}
  std::string nic;                 // {nic}: mlx5_4
  std::string port;                // {port}: 1
  std::vector<std::int64_t> pids;  // {pid}
  // Other placeholders, from the line: {peer}, {path}. The ones above take precedence.
  std::map<std::string, std::string, std::less<>> fields;
};

AdviceSubject advice_subject(const Subject& subject);

// Fills in the known placeholders and leaves the others, so that a later call can fill them. In a
// command, each value is quoted as one word of the shell, whatever a log says.
std::string fill_in(std::string_view text, const AdviceSubject& subject);
Action fill_in(const Action& action, const AdviceSubject& subject);

// The action as it is printed, without open placeholders. If a value is unknown, the command finds
// it, loops over all candidates, or asks for it: "${PEER:?the address of the other end}".
Action completed(const Action& action, const AdviceSubject& subject);
std::string completed_command(std::string_view command, const AdviceSubject& subject);

// Quotes the text, if needed, as one word of the shell.
std::string shell_word(std::string_view text);

// The unknown placeholders in the text, without their braces.
std::vector<std::string_view> unknown_placeholders(std::string_view text);

}  // namespace faultline
