#include "http/datagrams.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstring>
#include <utility>

namespace faultline {
namespace asio = boost::asio;
namespace {

// So much may come while the server does something else. Without a privilege the system gives less:
// net.core.rmem_max.
constexpr int kReceiveBuffer = 16 << 20;

void enlarge_buffer(int socket) {
  if (::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer) != 0)
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
}

void ask_for_drops(int socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
}

}  // namespace

Datagrams::Datagrams(const asio::any_io_executor& executor, const asio::ip::udp::endpoint& endpoint)
    : socket_(executor, endpoint.protocol()) {
  enlarge_buffer(socket_.native_handle());
  ask_for_drops(socket_.native_handle());
  socket_.non_blocking(true);
  socket_.bind(endpoint);
}

asio::awaitable<void> Datagrams::wait() {
  co_await socket_.async_wait(asio::ip::udp::socket::wait_read,
                              asio::as_tuple(asio::use_awaitable));
}

std::vector<Datagram> Datagrams::take(std::size_t most_bytes) {
  std::vector<Datagram> taken;
  for (std::size_t bytes = 0; bytes < most_bytes;) {
    asio::ip::udp::endpoint sender;
    iovec into{.iov_base = buffer_.data(), .iov_len = buffer_.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(std::uint32_t))> control{};
    msghdr head{};
    head.msg_name = sender.data();
    head.msg_namelen = static_cast<socklen_t>(sender.capacity());
    head.msg_iov = &into;
    head.msg_iovlen = 1;
    head.msg_control = control.data();
    head.msg_controllen = control.size();
    const ssize_t length = ::recvmsg(socket_.native_handle(), &head, MSG_DONTWAIT);
    if (length < 0) break;
    for (cmsghdr* note = CMSG_FIRSTHDR(&head); note != nullptr; note = CMSG_NXTHDR(&head, note))
      if (note->cmsg_level == SOL_SOCKET && note->cmsg_type == SO_RXQ_OVFL)
        std::memcpy(&dropped_, CMSG_DATA(note), sizeof dropped_);
    sender.resize(head.msg_namelen);
    const auto size = static_cast<std::size_t>(length);
    taken.push_back({sender.address().to_string(), std::string(buffer_.data(), size)});
    bytes += size + sizeof(Datagram);
  }
  return taken;
}

std::uint64_t Datagrams::take_dropped() { return dropped_ - std::exchange(told_, dropped_); }

void Datagrams::cancel_wait() {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Datagrams::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace faultline
