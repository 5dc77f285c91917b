#include "accuracy/served.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

extern char** environ;

namespace faultline::accuracy {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kBetweenLooks{5};
constexpr int kMostLooks = 6000;

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream read;
  read << std::ifstream(path).rdbuf();
  return read.str();
}

Answer answer_on(tcp::socket& socket, boost::beast::flat_buffer& buffer) {
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  http::read(socket, buffer, parser);
  return {parser.get().result_int(), std::move(parser.get().body())};
}

}  // namespace

struct Served::Connection {
  explicit Connection(unsigned short port) : socket(context) {
    socket.connect({asio::ip::address_v4::loopback(), port});
    socket.set_option(tcp::no_delay(true));
  }

  Answer exchange(http::request<http::string_body>& request) {
    request.set(http::field::host, "127.0.0.1");
    request.prepare_payload();
    http::write(socket, request);
    return answer_on(socket, buffer);
  }

  asio::io_context context;
  tcp::socket socket;
  boost::beast::flat_buffer buffer;
};

Served::Served(std::string program, std::filesystem::path folder, std::vector<std::string> flags)
    : program_(std::move(program)), folder_(std::move(folder)), flags_(std::move(flags)) {
  start();
}

Served::~Served() { stop(); }

void Served::stop() {
  connection_.reset();
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

void Served::start() {
  const std::filesystem::path messages = folder_ / "messages";
  std::filesystem::remove(messages);
  std::vector<std::string> words{program_,      "serve",  "--listen",
                                 "127.0.0.1:0", "--data", folder_ / "data"};
  words.insert(words.end(), flags_.begin(), flags_.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int failed =
      posix_spawn(&process_, program_.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error(fmt::format("{} cannot be run", program_));

  // One of its first lines says where it listens.
  constexpr std::string_view kListening = "listening on http://127.0.0.1:";
  for (int looks = 0; looks < kMostLooks; ++looks, std::this_thread::sleep_for(kBetweenLooks)) {
    const std::string said = text_of(messages);
    const std::size_t at = said.find(kListening);
    if (at == std::string::npos || said.find('\n', at) == std::string::npos) {
      if (waitpid(process_, nullptr, WNOHANG) != process_) continue;
      process_ = -1;
      throw std::runtime_error(said);
    }
    std::from_chars(said.data() + at + kListening.size(), said.data() + said.size(), port_);
    connection_ = std::make_unique<Connection>(port_);
    while (get("/readyz").status == 503) std::this_thread::sleep_for(kBetweenLooks);
    return;
  }
  throw std::runtime_error("the server does not start");
}

void Served::kill_and_start() {
  stop();
  start();
}

Answer Served::get(const std::string& path) {
  http::request<http::string_body> request(http::verb::get, path, 11);
  return connection_->exchange(request);
}

Answer Served::post(const std::string& path, const std::string& body, std::string_view type,
                    std::string_view encoding) {
  http::request<http::string_body> request(http::verb::post, path, 11);
  if (!type.empty()) request.set(http::field::content_type, type);
  if (!encoding.empty()) request.set(http::field::content_encoding, encoding);
  request.body() = body;
  return connection_->exchange(request);
}

std::unique_ptr<Served::Stream> Served::stream(const std::string& path) {
  class Open : public Stream {
   public:
    Open(unsigned short port, const std::string& target) : connection_(port) {
      tell(fmt::format("PUT {} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                       target));
    }
    void say(std::string_view piece) override {
      if (!piece.empty()) tell(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece));
    }
    Answer end() override {
      tell("0\r\n\r\n");
      return answer_on(connection_.socket, connection_.buffer);
    }

   private:
    void tell(const std::string& text) { asio::write(connection_.socket, asio::buffer(text)); }
    Connection connection_;
  };
  return std::make_unique<Open>(port_, path);
}

}  // namespace faultline::accuracy
