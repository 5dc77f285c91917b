// Steps that do not need each other: the failure of one does not keep the others from being done.
#pragma once

#include <exception>
#include <utility>

namespace faultline {

class IndependentSteps {
 public:
  template <class Step>
  void run(Step&& step) {
    try {
      std::forward<Step>(step)();
    } catch (...) {
      if (!first_failure_) first_failure_ = std::current_exception();
    }
  }

  // Throws the first failure, if there was one.
  void end() {
    if (first_failure_) std::rethrow_exception(std::exchange(first_failure_, nullptr));
  }

 private:
  std::exception_ptr first_failure_;
};

}  // namespace faultline
