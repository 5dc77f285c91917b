// Result<T>: a value, or the reason there is none.
//
// For failures the caller is expected to meet and handle: a bad query parameter, an unknown job.
// A failure nobody can handle here (disk full, database gone) is an exception instead.
#pragma once

#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>

namespace faultline {

struct Error {
  enum class Kind { invalid_input, not_found, conflict, too_large };
  Kind kind;
  std::string message;
};

// Called by Result::value() when there is no value.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.message);
}

template <class T>
struct [[nodiscard]] Result : boost::system::result<T, Error> {
  using boost::system::result<T, Error>::result;
};

}  // namespace faultline
