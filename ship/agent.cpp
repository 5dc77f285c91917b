#include "ship/agent.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "logging/log.h"
#include "ship/find_logs.h"
#include "ship/followed_log.h"
#include "ship/kernel_ring.h"
#include "ship/log_holder.h"
#include "ship/piped_log.h"

namespace faultline {
namespace {

constexpr std::size_t kAtOnce = std::size_t{1} << 20;
constexpr std::size_t kMostLogs = 4096;
constexpr std::chrono::milliseconds kBetweenRounds{100};
constexpr std::chrono::milliseconds kIdle{250};
constexpr std::chrono::seconds kBetweenSearches{5};
constexpr std::chrono::seconds kBetweenSaves{2};
// How long a log waits for a process that has it open, and so tells its job.
constexpr std::chrono::seconds kLongestForHolder{5};
// At the end, for what still waits.
constexpr std::chrono::seconds kLongestFarewell{5};
constexpr const char* kStdin = "-";
constexpr int kCompression = 1;

// Of messages that name no job, as for what shippers push.
constexpr const char* kUnlabelled = "unlabelled";

std::string packed(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kCompression);
  if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

double seconds_ago(std::chrono::seconds age) {
  const auto then = std::chrono::system_clock::now() - age;
  return std::chrono::duration<double>(then.time_since_epoch()).count();
}

// NAME#2, NAME#3, ...: another stream of the same log.
std::string next_name(const std::string& name) {
  const std::size_t mark = name.rfind('#');
  if (mark == std::string::npos) return name + "#2";
  return fmt::format("{}#{}", name.substr(0, mark), std::atoi(name.c_str() + mark + 1) + 1);
}

}  // namespace

ShipAgent::ShipAgent(ShipSettings settings)
    : settings_(std::move(settings)),
      lock_([this] {
        Result<OpenDescriptor> lock = lock_state_folder(settings_.state);
        if (!lock) throw std::runtime_error(lock.error().message);
        return std::move(*lock);
      }()),
      spool_(settings_.state, settings_.spool),
      sender_(settings_.server, spool_) {
  for (ReaderState& reader : read_state(settings_.state)) {
    restored_.insert(reader.path);
    std::string path = reader.path;
    saved_.emplace(std::move(path), std::move(reader));
  }
}

ShipAgent::~ShipAgent() = default;

void ShipAgent::stop() {
  stopped_ = true;
  watch_.stop();
}

std::unique_ptr<LogReader> ShipAgent::open_reader(ReaderState saved, std::uint64_t start) {
  if (saved.path == kStdin) return std::make_unique<PipedLog>(std::move(saved), STDIN_FILENO);
  if (saved.path == settings_.kernel_device)
    return std::make_unique<KernelRing>(std::move(saved), start, boot_time_of_host());
  FollowSettings follow{.folder = settings_.state.string(), .not_before = 0};
  if (settings_.since.count() > 0) follow.not_before = seconds_ago(settings_.since);
  return std::make_unique<FollowedLog>(std::move(saved), start, std::move(follow));
}

// stdin and the kernel's messages.
void ShipAgent::begin_streams() {
  const ProcessLabels own = labels_of(own_environment);
  LogTarget target{.job = settings_.job.empty() ? own.job : settings_.job,
                   .host = settings_.host,
                   .source = settings_.source,
                   .rank = settings_.rank};
  if (settings_.from_stdin)
    readers_.emplace(kStdin, open_reader({.path = kStdin, .target = target, .parts = {}}, 0));
  if (!settings_.kernel) return;
  target.rank = -1;
  target.source = fmt::format("{}/kmsg/{}", settings_.host, boot_id().substr(0, 8));
  ReaderState saved{.path = settings_.kernel_device, .target = target, .parts = {}};
  const auto known = saved_.find(saved.path);
  if (known != saved_.end() && known->second.target == target) saved = known->second;
  const std::uint64_t start = std::max(saved.acknowledged, spool_.end_of(saved.target).value_or(0));
  auto reader = std::make_unique<KernelRing>(std::move(saved), start, boot_time_of_host());
  if (!reader->ok())
    throw std::runtime_error(fmt::format(
        "{} cannot be read; run as root, or give the container CAP_SYSLOG and the device",
        settings_.kernel_device));
  readers_.emplace(settings_.kernel_device, std::move(reader));
}

// A job that was given counts, else that of the process that writes the log.
LogTarget ShipAgent::target_for(const std::string& path, bool& wait_for_holder) {
  LogTarget target{.job = settings_.job,
                   .host = settings_.host,
                   .source = settings_.host + path,
                   .rank = settings_.rank};
  wait_for_holder = false;
  if (!target.job.empty() && target.rank >= 0) return target;
  if (!settings_.follow && !target.job.empty()) return target;
  struct stat status{};
  std::optional<ProcessLabels> holders;
  if (stat(path.c_str(), &status) == 0)
    holders = labels_of_holders({status.st_dev, status.st_ino}, settings_.proc);
  if (holders && target.rank < 0) target.rank = holders->rank;
  if (!target.job.empty()) return target;
  if (holders) target.job = holders->job;
  if (target.job.empty()) target.job = labels_of(own_environment).job;
  wait_for_holder = target.job.empty() && settings_.follow;
  if (target.job.empty()) target.job = kUnlabelled;
  return target;
}

void ShipAgent::begin_logs(const std::set<std::string>& logs) {
  for (const std::string& path : logs) {
    if (readers_.contains(path)) continue;
    if (const auto known = saved_.find(path); known != saved_.end()) {
      const std::uint64_t end = spool_.end_of(known->second.target).value_or(0);
      const std::uint64_t start = std::max(known->second.acknowledged, end);
      readers_.emplace(path, open_reader(known->second, start));
      saved_.erase(known);
      continue;
    }
    struct stat status{};
    const bool is_there = stat(path.c_str(), &status) == 0;
    if (!is_there || (settings_.since.count() > 0 &&
                      static_cast<double>(status.st_mtim.tv_sec) < seconds_ago(settings_.since)))
      continue;
    bool wait_for_holder = false;
    const LogTarget target = target_for(path, wait_for_holder);
    const Clock::time_point now = Clock::now();
    if (wait_for_holder && now - seen_.emplace(path, now).first->second < kLongestForHolder)
      continue;
    seen_.erase(path);
    readers_.emplace(path, open_reader({.path = path, .target = target, .parts = {}}, 0));
    say(LogLevel::info, "ship",
        fmt::format("{}: to job {}{}", path, target.job,
                    target.rank < 0 ? "" : fmt::format(", rank {}", target.rank)));
  }
}

void ShipAgent::find() {
  found_at_ = Clock::now();
  std::set<std::string> known;
  for (const auto& [path, reader] : readers_) known.insert(path);
  for (const auto& [path, saved] : saved_) known.insert(path);
  FoundLogs found = find_logs(settings_.paths, known, kMostLogs);
  if (found.too_many)
    say(LogLevel::warning, "ship",
        fmt::format("there are more than {} logs; the others are not read", kMostLogs));
  begin_logs(found.logs);
  watch_.watch(found.folders);
}

void ShipAgent::hear() {
  for (const ServerNews& news : sender_.take_news()) heard(news);
}

void ShipAgent::heard(const ServerNews& news) {
  const auto entry = std::ranges::find_if(
      readers_, [&](const auto& one) { return one.second->target() == news.target; });
  if (entry == readers_.end()) return;
  auto& [path, reader] = *entry;
  if (news.kind != ServerNews::Kind::acknowledged) spool_.restart(news.target);
  switch (news.kind) {
    case ServerNews::Kind::acknowledged:
      return reader->acknowledge(news.offset);
    case ServerNews::Kind::has_less:
      say(LogLevel::warning, "ship",
          fmt::format("{}: the server has only the first {} bytes; they are sent again from there",
                      path, news.offset));
      return reader->rewind(news.offset);
    case ServerNews::Kind::has_more:
      if (restored_.contains(path)) return reader->rewind(news.offset);
      if (reader->pass_held(news.offset, news.proof)) return reader->acknowledge(news.offset);
      ReaderState again{.path = path, .target = news.target, .parts = {}};
      again.target.source = next_name(news.target.source);
      say(LogLevel::warning, "ship",
          fmt::format("{}: the server has {} bytes of it, but nothing here tells which; it is sent "
                      "as {}",
                      path, news.offset, again.target.source));
      reader = open_reader(std::move(again), 0);
      return;
  }
}

bool ShipAgent::take_from(LogReader& reader) {
  if (!spool_.has_room(reader.target())) {
    if (auto* pipe = dynamic_cast<PipedLog*>(&reader)) thrown_away_ += pipe->throw_away();
    return false;
  }
  std::optional<StreamPiece> piece = reader.take(kAtOnce, !settings_.follow);
  // Before anything of a new file leaves: whoever goes on after us must know of it.
  if (reader.must_be_saved()) save(true);
  if (!piece) return false;
  spool_.put({.target = reader.target(),
              .from = piece->from,
              .to = piece->to(),
              .boot_time = reader.boot_time(),
              .packed = packed(piece->bytes)});
  return true;
}

void ShipAgent::save(bool now) {
  if (!now && Clock::now() - saved_at_ < kBetweenSaves) return;
  saved_at_ = Clock::now();
  std::vector<ReaderState> all;
  for (const auto& [path, reader] : readers_)
    if (path != kStdin) all.push_back(reader->saved());
  for (const auto& [path, reader] : saved_) all.push_back(reader);
  if (!write_state(settings_.state, all))
    say(LogLevel::error, "ship", fmt::format("cannot write to {}", settings_.state.string()));
}

bool ShipAgent::all_sent() const {
  return spool_.empty() && std::ranges::all_of(readers_, [](const auto& entry) {
           return entry.second->at_end() &&
                  (!dynamic_cast<const PipedLog*>(entry.second.get()) || entry.second->is_over());
         });
}

bool ShipAgent::run() {
  begin_streams();
  std::thread sending([this] { sender_.run(); });
  Clock::time_point good = Clock::now();
  bool in_time = true;
  bool came = true;
  while (!stopped_) {
    hear();
    const bool due = Clock::now() - found_at_ >= kBetweenSearches;
    if (!settings_.paths.empty() && (came || due || !seen_.empty())) find();
    bool any = false;
    for (const auto& [path, reader] : readers_) any = take_from(*reader) || any;
    save(false);
    if (!settings_.follow && !any && all_sent()) break;
    if (sender_.trouble().empty()) good = Clock::now();
    in_time = settings_.follow || Clock::now() - good < settings_.retry_for;
    if (!in_time) break;
    came = watch_.wait(any ? kBetweenRounds : kIdle);
  }
  const Clock::time_point until = Clock::now() + kLongestFarewell;
  while (!spool_.empty() && in_time && sender_.trouble().empty() && Clock::now() < until)
    std::this_thread::sleep_for(kBetweenRounds);
  sender_.stop();
  sending.join();
  hear();
  spool_.save();
  save(true);
  return finish();
}

// Without following: says that nothing will come, where that is known, and whether all was sent.
bool ShipAgent::finish() {
  if (thrown_away_ > 0)
    say(LogLevel::warning, "ship",
        fmt::format("{} bytes of stdin were thrown away, because the server did not take logs for "
                    "too long",
                    thrown_away_));
  bool all = spool_.empty();
  for (const auto& [path, reader] : readers_) {
    if (!all || settings_.follow || (!settings_.final && !reader->is_over())) continue;
    all = sender_.finish(reader->target(), reader->saved().acknowledged);
  }
  return all;
}

}  // namespace faultline
