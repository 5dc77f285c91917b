// Any bytes from a client, cut anywhere: the same requests, bodies and errors. The first two bytes
// say where it is cut.
#include "http/request_reader.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "oracle.h"

namespace {

using namespace faultline;
namespace asio = boost::asio;

constexpr std::size_t kMostRequests = 4;  // on one connection

struct HeardRequests {
  std::vector<std::string> heads;  // of requests, or the error
  std::vector<std::string> bodies;
  bool malformed = false;  // is the last body

  bool operator==(const HeardRequests&) const = default;
};

std::string to_text(const Request& request) {
  std::string text = fmt::format("{} {} path {}", request.method, request.target, request.path);
  for (const auto& [name, value] : request.headers) text += fmt::format("\n{}: {}", name, value);
  return text;
}

bool is_complaint(std::string_view head) { return head[0] >= '0' && head[0] <= '9'; }

void check(const Request& request) {
  require(!request.method.empty() && !request.target.empty(),
          "a request has a method and a target");
  require(request.target.find_first_of("\r\n ") == std::string::npos, "a target is one word");
  require(request.target.starts_with(request.path), "the path begins the target");
  require(request.target.size() <= 8 << 10, "a target is of bounded length");
  std::size_t bytes = 0;
  for (const auto& [name, value] : request.headers) {
    bytes += name.size() + value.size();
    require(name.find_first_of("\r\n: ") == std::string::npos &&
                value.find_first_of("\r\n") == std::string::npos,
            "a header is one line");
  }
  require(bytes <= 32 << 10, "headers are of bounded length");
}

asio::awaitable<void> read_body(RequestReader& reader, HeardRequests& heard) {
  std::string& body = heard.bodies.emplace_back();
  for (;;) {
    const BodyEvent event = co_await reader.read_body(steady_now() + std::chrono::hours(1));
    if (event == BodyEvent::pieces) {
      for (const std::string_view piece : reader.pieces()) body += piece;
      continue;
    }
    if (event == BodyEvent::end) co_return;
    heard.malformed = event == BodyEvent::malformed;
    if (!heard.malformed) body += " (closed)";
    co_return;
  }
}

asio::awaitable<void> read_all(Connection& connection, HeardRequests& heard) {
  while (heard.heads.size() < kMostRequests) {
    RequestReader reader(connection);
    const auto head = co_await reader.read_head();
    if (std::holds_alternative<Gone>(head)) co_return;
    if (const auto* problem = std::get_if<Problem>(&head)) {
      require(problem->status >= 400 && problem->status < 600, "a complaint has a status");
      heard.heads.push_back(fmt::format("{} {}", problem->status, problem->detail));
      co_return;
    }
    check(std::get<Request>(head));
    heard.heads.push_back("request " + to_text(std::get<Request>(head)));
    co_await read_body(reader, heard);
    if (!reader.done()) co_return;
  }
}

// What the server reads if the bytes come in pieces that end at `ends`.
HeardRequests heard_of(std::string_view said, const std::vector<std::size_t>& ends) {
  std::array<int, 2> ends_of_wire{};
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_of_wire.data()) == 0, "there is a wire");
  HeardRequests heard;
  {
    asio::io_context io;
    asio::ip::tcp::socket socket{asio::make_strand(io)};
    socket.assign(asio::ip::tcp::v4(), ends_of_wire[0]);
    auto connection = std::make_shared<Connection>(std::move(socket));
    bool done = false;
    auto work = [&]() -> asio::awaitable<void> { return read_all(*connection, heard); };
    asio::co_spawn(io, work, [&](const std::exception_ptr& failure) {
      require(!failure, "what a client says throws nothing");
      done = true;
    });
    io.poll();
    std::size_t at = 0;
    for (const std::size_t end : ends) {
      while (at < end && !done) {
        const ssize_t sent = send(ends_of_wire[1], said.data() + at, end - at, MSG_DONTWAIT);
        if (sent > 0) at += static_cast<std::size_t>(sent);
        io.poll();
      }
    }
    shutdown(ends_of_wire[1], SHUT_WR);
    for (int turn = 0; turn < 1000 && !done; ++turn) io.poll();
    require(done, "a reader comes to an end with what it reads");
    connection.reset();
  }
  close(ends_of_wire[1]);
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t first = input.byte();
  const std::size_t step = std::size_t{1} + input.byte();
  const std::string_view said = input.rest();
  std::vector<std::size_t> ends;
  for (std::size_t end = first; end < said.size(); end += step) ends.push_back(end);
  ends.push_back(said.size());
  HeardRequests whole = heard_of(said, {said.size()});
  HeardRequests pieces = heard_of(said, ends);
  // More or less of a malformed body may be taken before the error is noticed.
  if (whole.malformed && pieces.malformed && !whole.bodies.empty() && !pieces.bodies.empty()) {
    whole.bodies.back().clear();
    pieces.bodies.back().clear();
  }
  // The error in a head that never ends may be noticed or not.
  for (HeardRequests* heard : {&whole, &pieces})
    if (!heard->heads.empty() && is_complaint(heard->heads.back())) heard->heads.pop_back();
  if (whole == pieces) return 0;
  for (const HeardRequests* heard : {&whole, &pieces}) {
    std::fprintf(stderr, "%s\n", heard->malformed ? "malformed" : "well-formed");
    for (const std::string& head : heard->heads) std::fprintf(stderr, "head: %s\n", head.c_str());
    for (const std::string& body : heard->bodies) std::fprintf(stderr, "body: %s\n", body.c_str());
  }
  require(false, "the same is heard however it is cut");
  return 0;
}
