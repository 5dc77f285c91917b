// What surrounds the output of tools in text copied from a terminal: prompts with commands, dates,
// headings.
#pragma once

#include <optional>
#include <string_view>

#include "model/time.h"
#include "parsers/tool/tool_block.h"

namespace faultline {

struct ShellCommand {
  std::string_view host;  // from the prompt; may be empty
  std::string_view command;
  // If the prompt's folder has the files of a port under /sys: that port.
  std::string_view device = {};
  std::string_view port = {};
};

// "root@gpu-7:~# ibstat", "[root@gpu-7 ~]# ibstat", "$ sudo perfquery -x 37 1". Only for commands
// whose output is read here; in the folder of a port for any command.
std::optional<ShellCommand> read_prompt(std::string_view text);

struct WatchedCommand {
  ShellCommand command;
  std::optional<Timestamp> date;
};

// "Every 2.0s: perfquery -x 37 1            gpu-7: Thu Mar  5 02:47:11 2026": the first line of a
// screen of watch.
std::optional<WatchedCommand> read_watch(std::string_view text);

// Puts into the context what a command says about the output that follows it.
void apply_command(const ShellCommand& prompt, ToolContext& context);
bool asks_for_host_name(const ShellCommand& prompt);

// "Thu Mar  5 02:47:11 UTC 2026", "2026-03-05T02:47:11+00:00", "=== 2026-03-05 02:47:11 ==="
std::optional<Timestamp> read_date(std::string_view text);

// "=== mlx5_0 ===", "mlx5_0 port 1", "ens1f0np0:"
bool read_heading(std::string_view text, ToolContext& context);

// "=== gpu-7 ===", "gpu-7 | CHANGED | rc=0 >>"
std::string_view host_of_heading(std::string_view text);

}  // namespace faultline
