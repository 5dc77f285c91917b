#include "faults/client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>

namespace faultline::faults {
namespace {

// After so long without an answer a request counts as unanswered.
constexpr timeval kPatience{.tv_sec = 10, .tv_usec = 0};

// Long enough for a server to store the lines that have come while it waits for the rest of a body.
constexpr std::chrono::milliseconds kPauseOfAShipper{230};

// The service recognises a repeated body by this many of its first bytes, and waits for them no
// longer than a shipper pauses. Only Way::drips sends fewer at first.
constexpr std::size_t kRecognizable = 256;
constexpr std::size_t kDrop = 100;

std::string gzipped(std::string_view text) {
  constexpr int kGzip = 15 + 16;  // zlib's way of asking for gzip's header
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

bool Client::connect() {
  if (socket_ >= 0) return true;
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  const int at_once = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return true;
  hang_up();
  return false;
}

void Client::hang_up() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool Client::say(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::say_in_pieces(std::string_view bytes, std::size_t first, Pauses may, Random& random) {
  const bool pauses = may == Pauses::always || (may == Pauses::sometimes && random.one_in(16));
  std::size_t size = std::min(first, bytes.size());
  for (std::uint64_t pieces = random.between(2, 5);; --pieces) {
    if (!say(fmt::format("{:x}\r\n{}\r\n", size, bytes.substr(0, size)))) return false;
    bytes.remove_prefix(size);
    if (bytes.empty()) return say("0\r\n\r\n");
    if (pauses)
      std::this_thread::sleep_for(kPauseOfAShipper);
    else
      std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, 2000)));
    size = pieces <= 2 ? bytes.size() : static_cast<std::size_t>(random.between(1, bytes.size()));
  }
}

Answer Client::hear() {
  std::string heard;
  std::size_t expected = std::string::npos;
  std::size_t head = 0;
  std::array<char, 65536> buffer;
  while (heard.size() < expected) {
    const ssize_t received = recv(socket_, buffer.data(), buffer.size(), 0);
    if (received <= 0) return {};
    heard.append(buffer.data(), static_cast<std::size_t>(received));
    if (head != 0) continue;
    const std::size_t end = heard.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    head = end + 4;
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t field = heard.find(kLength);
    std::size_t length = 0;
    if (field < head)
      std::from_chars(heard.data() + field + kLength.size(), heard.data() + head, length);
    expected = head + length;
  }
  Answer answer;
  constexpr std::size_t kStatusAt = 9;  // HTTP/1.1 200
  std::from_chars(heard.data() + kStatusAt, heard.data() + kStatusAt + 3, answer.status);
  answer.body = heard.substr(head);
  const bool closes = heard.substr(0, head).find("\r\nConnection: close\r\n") != std::string::npos;
  if (closes || answer.status >= 400) hang_up();
  return answer;
}

Answer Client::ask(std::string_view head) {
  Answer answer;
  if (connect() && say(head)) answer = hear();
  if (answer.status == 0) hang_up();
  return answer;
}

Answer Client::get(const std::string& target) {
  return ask(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target));
}

Answer Client::post(const std::string& target) {
  return ask(
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", target));
}

Answer Client::send(const Shipment& shipment, Way way, Random& random) {
  const bool packs = way == Way::gzip || way == Way::gzip_in_pieces;
  const bool in_pieces = way == Way::pieces || way == Way::gzip_in_pieces || way == Way::drips;
  const std::string packed = packs ? gzipped(shipment.body) : std::string();
  const std::string_view sent = packs ? packed : shipment.body;
  std::string head =
      fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n", shipment.method, shipment.target);
  if (!shipment.type.empty()) head += fmt::format("Content-Type: {}\r\n", shipment.type);
  if (packs) head += "Content-Encoding: gzip\r\n";
  head += in_pieces ? "Transfer-Encoding: chunked\r\n\r\n"
                    : fmt::format("Content-Length: {}\r\n\r\n", sent.size());
  Answer answer;
  if (way == Way::broken_off) {
    if (connect() && say(head) && say(sent.substr(0, random.between(0, sent.size() - 1))))
      std::this_thread::sleep_for(std::chrono::milliseconds(random.between(0, 3)));
  } else if (way == Way::drips) {
    if (connect() && say(head) && say_in_pieces(sent, kDrop, Pauses::always, random))
      answer = hear();
  } else if (in_pieces) {
    // Most of a compressed body can be unpacked only with its last bytes.
    const std::size_t first =
        packs ? sent.size() - std::min<std::size_t>(sent.size(), random.between(1, 8))
              : kRecognizable + random.between(0, sent.size());
    if (connect() && say(head) &&
        say_in_pieces(sent, first, packs ? Pauses::no : Pauses::sometimes, random))
      answer = hear();
  } else if (connect() && say(head) && say(sent)) {
    answer = hear();
  }
  if (answer.status == 0) hang_up();
  return answer;
}

Answer get(int port, const std::string& target) { return Client(port).get(target); }

}  // namespace faultline::faults
