#include "faults/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "faults/client.h"

extern char** environ;

namespace faultline::faults {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{2};
constexpr std::chrono::seconds kLongestStop{20};

using Clock = std::chrono::steady_clock;

// Our own environment with these additions.
std::vector<std::string> environment_with(const std::vector<std::string>& additions) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  all.insert(all.end(), additions.begin(), additions.end());
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Server::Server(Programs programs, std::filesystem::path folder, const Steering& steering,
               bool journaled)
    : programs_(std::move(programs)),
      folder_(std::move(folder)),
      control_file_(steering.file()),
      journaled_(journaled) {}

Server::~Server() { kill_now(); }

bool Server::start(std::chrono::milliseconds patience) {
  spawn();
  const Time end = Clock::now() + patience;
  return await_port(end) && await_readiness(end);
}

void Server::spawn() {
  const std::string messages = folder_ / "messages";
  std::filesystem::create_directories(rules());
  std::vector<std::string> words{programs_.server,  "serve",
                                 "--listen",        "127.0.0.1:0",
                                 "--data",          data().string(),
                                 "--stall-after",   "0s",
                                 "--min-free",      min_free_,
                                 "--rest-after",    "0s",  // so that no answer depends on the time
                                 "--rules",         rules().string(),
                                 "--shorten-after", "0"};
  std::vector<std::string> additions;
  if (!programs_.shim.empty())
    additions = {
        fmt::format("LD_PRELOAD={} {}", programs_.before_shim.string(), programs_.shim.string()),
        fmt::format("{}={}", kControlVariable, control_file_.string()),
        fmt::format("{}={}", kFolderVariable, data().string())};
  if (journaled_) additions.push_back(fmt::format("{}={}", kJournalVariable, journal().string()));
  std::vector<std::string> environment = environment_with(additions);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int failed = posix_spawn(&process_, programs_.server.c_str(), &actions, nullptr,
                                 pointers_to(words).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw std::runtime_error(fmt::format("{} cannot be run", programs_.server.string()));
}

// One of the server's first lines says where it listens; a server that cannot listen ends.
bool Server::await_port(Time end) {
  constexpr std::string_view kListening = "listening on http://127.0.0.1:";
  for (; Clock::now() < end; std::this_thread::sleep_for(kBetweenLooks)) {
    const std::string said = messages();
    const std::size_t at = said.find(kListening);
    if (at != std::string::npos && said.find('\n', at) != std::string::npos) {
      std::from_chars(said.data() + at + kListening.size(), said.data() + said.size(), port_);
      return true;
    }
    if (!lives()) return false;
  }
  return false;
}

bool Server::await_readiness(Time end) {
  for (; Clock::now() < end; std::this_thread::sleep_for(kBetweenLooks)) {
    if (get(port_, "/readyz").status == 200) return true;
    if (!lives()) return false;
  }
  return false;
}

void Server::kill_now() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

int Server::stop() {
  if (process_ <= 0) return -1;
  kill(process_, SIGTERM);
  for (const auto end = Clock::now() + kLongestStop; Clock::now() < end;
       std::this_thread::sleep_for(kBetweenLooks)) {
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) != process_) continue;
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  kill_now();
  return -1;
}

// kill(-1, …) would signal every process.
bool Server::freeze() {
  if (process_ <= 0) return false;
  int status = 0;
  kill(process_, SIGSTOP);
  return waitpid(process_, &status, WUNTRACED) == process_ && WIFSTOPPED(status);
}

void Server::thaw() {
  if (process_ > 0) kill(process_, SIGCONT);
}

void Server::reload() {
  if (process_ > 0) kill(process_, SIGHUP);
}

bool Server::lives() {
  if (process_ <= 0) return false;
  if (waitpid(process_, nullptr, WNOHANG) != process_) return true;
  process_ = -1;
  return false;
}

bool Server::ends_within(std::chrono::milliseconds time) {
  for (const auto end = Clock::now() + time; lives() && Clock::now() < end;)
    std::this_thread::sleep_for(kBetweenLooks);
  return !lives();
}

void Server::limit(int resource, rlim_t soft) {
  rlimit both{};
  const auto which = static_cast<__rlimit_resource>(resource);
  if (prlimit(process_, which, nullptr, &both) != 0) return;
  both.rlim_cur = soft;
  prlimit(process_, which, &both, nullptr);
}

void Server::lift_limit(int resource) {
  rlimit both{};
  const auto which = static_cast<__rlimit_resource>(resource);
  if (process_ <= 0 || prlimit(process_, which, nullptr, &both) != 0) return;
  both.rlim_cur = both.rlim_max;
  prlimit(process_, which, &both, nullptr);
}

std::size_t Server::address_space_bytes() const {
  std::size_t pages = 0;
  std::ifstream(fmt::format("/proc/{}/statm", process_)) >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::string Server::messages() const {
  std::ostringstream text;
  text << std::ifstream(folder_ / "messages").rdbuf();
  return text.str();
}

}  // namespace faultline::faults
