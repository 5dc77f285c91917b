// What stands around the output of tools in a terminal's copy: prompts with commands, dates,
// headings.
#pragma once

#include <optional>
#include <string_view>

#include "model/time.h"
#include "parsers/tool/tool_block.h"

namespace faultline {

struct ShellCommand {
  std::string_view host;  // of the prompt; may be empty
  std::string_view command;
  // Where the prompt stands, of a port's files under /sys.
  std::string_view device = {};
  std::string_view port = {};
};

// "root@gpu-7:~# ibstat", "[root@gpu-7 ~]# ibstat", "$ sudo perfquery -x 37 1": only of commands
// that the formats here belong to, or any in the folder of a port.
std::optional<ShellCommand> read_prompt(std::string_view text);

struct WatchedCommand {
  ShellCommand command;
  std::optional<Timestamp> date;
};

// "Every 2.0s: perfquery -x 37 1            gpu-7: Thu Mar  5 02:47:11 2026", as watch begins a
// screen.
std::optional<WatchedCommand> read_watch(std::string_view text);

// What a command tells of the output that follows it.
void apply_command(const ShellCommand& prompt, ToolContext& context);
bool asks_for_host_name(const ShellCommand& prompt);

// "Thu Mar  5 02:47:11 UTC 2026", "2026-03-05T02:47:11+00:00", "=== 2026-03-05 02:47:11 ==="
std::optional<Timestamp> read_date(std::string_view text);

// "=== mlx5_0 ===", "mlx5_0 port 1", "ens1f0np0:"
bool read_heading(std::string_view text, ToolContext& context);

// "=== gpu-7 ===", "gpu-7 | CHANGED | rc=0 >>"
std::string_view host_of_heading(std::string_view text);

}  // namespace faultline
