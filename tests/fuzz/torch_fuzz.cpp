// Lines of PyTorch, tracebacks and tables of launchers: every fact has the fields that it needs.
#include "any_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  read_anyhow(data, size, [](const Fact& fact) {
    // An exception that a traceback quotes, or that C++ prints at the end of a program, has no
    // lines of its own.
    if (const auto* exception = std::get_if<PythonException>(&fact))
      return !exception->type.empty() && (exception->file.empty() || !exception->lines.empty());
    if (const auto* timeout = std::get_if<WatchdogTimeout>(&fact))
      return !timeout->operation.empty();
    if (const auto* stack = std::get_if<StackTop>(&fact)) return !stack->frames.empty();
    return true;
  });
  return 0;
}
