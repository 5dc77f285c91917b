// Datagrams: a UDP socket that also counts what the system had no room for.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace faultline {

struct Datagram {
  std::string sender;  // its address
  std::string text;
};

class Datagrams {
 public:
  // Listens; throws boost::system::system_error if it cannot.
  Datagrams(const boost::asio::any_io_executor& executor,
            const boost::asio::ip::udp::endpoint& endpoint);

  // Until there is one, or cancel_wait().
  boost::asio::awaitable<void> wait();

  // Those that are there, up to so many bytes.
  std::vector<Datagram> take(std::size_t most_bytes);

  // How many the system has dropped since the last call.
  std::uint64_t take_dropped();

  void cancel_wait();
  void close();

 private:
  static constexpr std::size_t kLargestDatagram = std::size_t{64} << 10;

  boost::asio::ip::udp::socket socket_;
  std::array<char, kLargestDatagram> buffer_{};
  std::uint32_t dropped_ = 0;  // as the system counts it
  std::uint32_t told_ = 0;
};

}  // namespace faultline
