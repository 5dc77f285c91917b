// Threads that run what is posted to them. If the machine refuses one of them,
// boost::asio::thread_pool waits for the others for ever; this one says so.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <thread>
#include <vector>

namespace faultline {

class Pool {
 public:
  using executor_type = boost::asio::io_context::executor_type;

  // Throws std::runtime_error if there cannot be so many.
  explicit Pool(std::size_t threads);
  // What has not begun does not run any more.
  ~Pool() { context_.stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  executor_type get_executor() { return context_.get_executor(); }

  // Waits until everything that was posted is done. Nothing runs afterwards.
  void join();

 private:
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<executor_type> work_;
  std::vector<std::jthread> threads_;
};

}  // namespace faultline
