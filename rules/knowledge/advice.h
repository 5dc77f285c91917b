// Advice of the catalog made concrete: whose GPU, which rank, on which host.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/knowledge/catalog.h"

namespace faultline {

// What the placeholders of a catalog's texts stand for.
struct AdviceSubject {
  std::string host;  // {host}
  std::string gpu;   // {gpu}: 0000:3b:00.0; {gpu_smi}: 00000000:3B:00.0, as nvidia-smi has it
  std::optional<int> rank;         // {rank}
  std::string nic;                 // {nic}: mlx5_4
  std::string port;                // {port}: 1
  std::vector<std::int64_t> pids;  // {pid}
  // What else a line names: {peer}, {path}. A name above comes first.
  std::map<std::string, std::string, std::less<>> fields;
};

AdviceSubject advice_subject(const Subject& subject);

// Fills in what is known. The rest stays as it is written, for somebody who knows more. What stands
// in a command is one word of the shell, whatever a log says.
std::string fill_in(std::string_view text, const AdviceSubject& subject);
Action fill_in(const Action& action, const AdviceSubject& subject);

// As it is printed: nothing is left open. A command finds what nobody knows, goes through all there
// are, or asks for it in a variable that says what it is: "${PEER:?the address of the other end}".
Action completed(const Action& action, const AdviceSubject& subject);
std::string completed_command(std::string_view command, const AdviceSubject& subject);

// One word of the shell.
std::string shell_word(std::string_view text);

// Placeholders that mean nothing here, without their braces.
std::vector<std::string_view> unknown_placeholders(std::string_view text);

}  // namespace faultline
