// A frame of a kernel's stack that is in a module, as kernels print it below a crash or a hang.
#pragma once

#include <optional>
#include <string_view>

namespace faultline {

struct KernelFrame {
  std::string_view function;
  std::string_view module;
};

// The place of a remark that is such a frame, or the end of a stack.
inline constexpr std::string_view kKernelStack = "stack";

// " nfs_wait_bit_killable+0x1c/0x90 [nfs]", also after an address or a register's name. Nothing: it
// is none, or the kernel is not sure of it and puts a question mark before it.
std::optional<KernelFrame> kernel_frame_in(std::string_view text);

// Whether the frames below this line are of something else: the end of a trace, a warning, what
// another CPU does, a dump that somebody asked for.
bool ends_kernel_stack(std::string_view text);

}  // namespace faultline
