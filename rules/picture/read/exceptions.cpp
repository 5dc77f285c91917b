#include "rules/picture/read/exceptions.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace faultline {

bool is_of_the_host(const PythonException& exception) {
  constexpr std::string_view kRefused[] = {"OSError", "IOError", "MemoryError", "BlockingIOError",
                                           "TimeoutError"};
  return std::ranges::find(kRefused, exception.type) != std::ranges::end(kRefused) ||
         exception.type.find("Connection") != std::string::npos ||
         exception.type.find("BrokenPipe") != std::string::npos;
}

bool is_of_the_code(const PythonException& exception) {
  // Not ValueError or AssertionError: a check of data that a GPU computed wrongly raises them, too.
  constexpr std::string_view kMistakes[] = {
      "AttributeError",      "ImportError",      "IndentationError",    "KeyError",
      "ModuleNotFoundError", "NameError",        "NotImplementedError", "SyntaxError",
      "TypeError",           "UnboundLocalError"};
  return std::ranges::find(kMistakes, exception.type) != std::ranges::end(kMistakes);
}

bool is_of_a_test(const PythonException& exception) {
  constexpr std::string_view kCheckers[] = {"/unittest/case.py", "/unittest/mock.py",
                                            "/torch/testing/_comparison.py",
                                            "/numpy/testing/_private/utils.py"};
  return exception.type == "AssertionError" &&
         std::ranges::any_of(kCheckers,
                             [&](std::string_view file) { return exception.file.ends_with(file); });
}

bool is_of_a_test_case(const PythonException& exception) {
  return exception.type == "AssertionError" && exception.file.ends_with("/unittest/case.py");
}

}  // namespace faultline
