#include "ship/collect/ras_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "ship/log_part.h"
#include "ship/small_file.h"

namespace faultline {
namespace {

class RasConversation {
 public:
  RasConversation(std::chrono::milliseconds longest, const std::atomic<bool>& stopped)
      : until_(std::chrono::steady_clock::now() + longest), stopped_(stopped) {}

  bool connect_to(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int error =
        connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
            ? 0
            : errno;
    if (error == 0) return true;
    if (error != EINPROGRESS) return fail(error);
    if (!wait(POLLOUT)) return false;
    int later = 0;
    socklen_t size = sizeof later;
    getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &later, &size);
    return later == 0 || fail(later);
  }

  // A few bytes on a connection that is new: they fit into its buffer.
  bool say_line(std::string_view line) {
    return send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(line.size()) ||
           fail(errno);
  }

  // Without its end.
  bool hear_line(std::string& line) {
    constexpr std::size_t kLongestLine = 256;
    while (heard_.find('\n') == std::string::npos) {
      if (heard_.size() > kLongestLine) return fail("answers something else");
      if (!hear_more()) return is_over_ ? fail("ended the connection") : false;
    }
    line = heard_.substr(0, heard_.find('\n'));
    heard_.erase(0, line.size() + 1);
    return true;
  }

  // Up to the end of the connection.
  bool hear_all(std::string& text, std::size_t most_bytes) {
    while (heard_.size() <= most_bytes && hear_more()) {
    }
    text = std::move(heard_);
    if (text.size() <= most_bytes) return is_over_;
    text.resize(text.rfind('\n', most_bytes) + 1);
    text += fmt::format("faultline: cut, only the first {} bytes are here\n", text.size());
    return true;
  }

  bool fail(std::string why) {
    failure_ = std::move(why);
    return false;
  }
  const std::string& failure() const { return failure_; }

 private:
  bool fail(int error) { return fail(std::generic_category().message(error)); }

  bool wait(short event) {
    constexpr int kLook = 100;  // milliseconds until it is seen that the agent stops
    while (!stopped_ && std::chrono::steady_clock::now() < until_) {
      pollfd wanted{socket_.get(), event, 0};
      if (poll(&wanted, 1, kLook) > 0) return true;
    }
    return fail(stopped_ ? "the agent stops" : "gave no answer in time");
  }

  bool hear_more() {
    if (!wait(POLLIN)) return false;
    char block[4096];
    const ssize_t count = recv(socket_.get(), block, sizeof block, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    is_over_ = count == 0;
    if (count < 0) return fail(errno);
    heard_.append(block, static_cast<std::size_t>(count));
    return count > 0;
  }

  OpenDescriptor socket_{socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const std::chrono::steady_clock::time_point until_;
  const std::atomic<bool>& stopped_;
  std::string heard_;
  std::string failure_;
  bool is_over_ = false;
};

bool converse_with_ras(RasConversation& ras, std::uint16_t port, std::size_t most_bytes,
                       std::string& report) {
  std::string line;
  if (!ras.connect_to(port) || !ras.say_line("client protocol 2\n") || !ras.hear_line(line))
    return false;
  std::ranges::transform(line, line.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!line.starts_with("server protocol ")) return ras.fail("is not NCCL's RAS service");
  if (!ras.say_line("timeout 10\n") || !ras.hear_line(line)) return false;
  if (!line.starts_with("OK")) return ras.fail("does not take the time limit");
  return ras.say_line("verbose status\n") && ras.hear_all(report, most_bytes);
}

// The sockets that listen at the port, as "socket:[4711]". The table's rows: number, address:port,
// the other side, state, queues, timer, retransmits, user, timeout, inode.
std::set<std::string> listening_sockets(const std::string& table, std::uint16_t port) {
  constexpr std::string_view kListens = "0A";
  constexpr std::size_t kMostOfTable = std::size_t{16} << 20;
  std::set<std::string> sockets;
  std::istringstream rows(read_small_file(table, kMostOfTable));
  for (std::string row; std::getline(rows, row);) {
    std::istringstream words(row);
    std::string number, address, other, state, queues, timer, retransmits, user, timeout, inode;
    words >> number >> address >> other >> state >> queues >> timer >> retransmits >> user >>
        timeout >> inode;
    const std::size_t colon = address.rfind(':');
    unsigned listened = 0;
    if (state != kListens || colon == std::string::npos) continue;
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), listened, 16);
    if (listened == port) sockets.insert(fmt::format("socket:[{}]", inode));
  }
  return sockets;
}

}  // namespace

bool listens(const std::vector<JobProcess>& processes, const std::string& proc,
             std::uint16_t port) {
  namespace fs = std::filesystem;
  std::set<std::string> sockets = listening_sockets(proc + "/net/tcp", port);
  sockets.merge(listening_sockets(proc + "/net/tcp6", port));
  if (sockets.empty()) return false;
  return std::ranges::any_of(processes, [&](const JobProcess& process) {
    std::error_code error;
    for (fs::directory_iterator entry(fmt::format("{}/{}/fd", proc, process.id), error), end;
         !error && entry != end; entry.increment(error)) {
      std::error_code gone;
      if (sockets.contains(fs::read_symlink(entry->path(), gone).string())) return true;
    }
    return false;
  });
}

RasReport ask_ras_service(std::uint16_t port, std::chrono::milliseconds longest,
                          std::size_t most_bytes, const std::atomic<bool>& stopped) {
  RasConversation ras(longest, stopped);
  RasReport report;
  const bool good = converse_with_ras(ras, port, most_bytes, report.text);
  if (good && !report.text.empty()) return report;
  report.failure = fmt::format("127.0.0.1:{}: {}", port, good ? "said nothing" : ras.failure());
  return report;
}

}  // namespace faultline
