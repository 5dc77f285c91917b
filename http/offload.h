// Runs a blocking call on threads that may wait, and resumes the coroutine where it was.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <type_traits>
#include <utility>

#include "http/threads.h"

namespace faultline {

template <class Call>
boost::asio::awaitable<std::invoke_result_t<Call&>> invoke_in_coroutine(Call& call) {
  co_return call();
}

// The call is used until the returned coroutine ends; taking it by reference keeps temporary
// lambdas out, which g++ 12 destroys twice in a co_await expression.
template <class Call>
boost::asio::awaitable<std::invoke_result_t<Call&>> offload(boost::asio::any_io_executor threads,
                                                            Call& call) {
  co_return co_await boost::asio::co_spawn(std::move(threads), invoke_in_coroutine(call),
                                           boost::asio::use_awaitable);
}

// The same, once the call's turn has come.
template <class Call>
boost::asio::awaitable<std::invoke_result_t<Call&>> offload(Seat seat, Call& call) {
  std::unique_ptr<Turns::Turn> turn;
  if (seat.turns != nullptr) turn = co_await seat.turns->take(std::move(seat.claim));
  co_return co_await offload(seat.threads, call);
}

}  // namespace faultline
