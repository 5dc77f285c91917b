#include "ship/agent.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "logging/log.h"
#include "ship/escaped_path.h"
#include "ship/find_logs.h"
#include "ship/followed_log.h"
#include "ship/kernel_ring.h"
#include "ship/log_files.h"
#include "ship/log_holder.h"
#include "ship/piped_log.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = std::size_t{1} << 20;
// In memory, of logs of which the server is asked where its reader stands.
constexpr std::size_t kMostHeld = std::size_t{8} << 20;
constexpr std::size_t kMostLogs = 4096;
constexpr std::size_t kMostFound = 100'000;
constexpr std::chrono::seconds kUntilBlocksAgain{30};
constexpr std::chrono::milliseconds kBetweenRounds{200};
constexpr std::chrono::milliseconds kIdle{250};
constexpr std::chrono::seconds kBetweenSearches{5};
constexpr std::chrono::milliseconds kBetweenLooksAtHolders{1000};
constexpr std::chrono::seconds kBetweenSaves{2};
constexpr std::chrono::seconds kBetweenListsOfJobs{1};
// How long a log waits for a process that has it open, and so tells its job.
constexpr std::chrono::seconds kLongestForHolder{5};
// How long a file that may be a part of a log waits for the log, which may be rotated just now.
constexpr std::chrono::seconds kLongestForItsLog{2};
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
  const bool has_number = mark != std::string::npos && mark + 1 < name.size() &&
                          name.find_first_not_of("0123456789", mark + 1) == std::string::npos;
  if (!has_number) return name + "#2";
  return fmt::format("{}#{}", name.substr(0, mark), std::atoi(name.c_str() + mark + 1) + 1);
}

// nccl.log of nccl.log.1, or the path itself.
std::string log_of(const fs::path& path) {
  return path.parent_path() / log_name_of(path.filename().string());
}

// A name that is not too long.
std::string source_name(const std::string& host, const std::string& path) {
  constexpr std::size_t kLongest = 400;
  const std::string name = host + escaped_path(path);
  if (name.size() <= kLongest) return name;
  return fmt::format("{}/~{:016x}/{}", host, mark_of(path).digest,
                     escaped_path(fs::path(path).filename().string()).substr(0, kLongest / 2));
}

}  // namespace

ShipAgent::ShipAgent(ShipSettings settings)
    : settings_(std::move(settings)),
      lock_([this] {
        Result<OpenDescriptor> lock = lock_state_folder(settings_.state);
        if (!lock) throw std::runtime_error(lock.error().message);
        return std::move(*lock);
      }()),
      own_reader_(settings_.follow && settings_.reads_here ? std::make_unique<const OwnReader>()
                                                           : nullptr),
      spool_(settings_.state, settings_.spool),
      sender_(settings_.server, spool_, own_reader_ ? own_reader_->version() : "") {
  for (ReaderState& reader : read_state(settings_.state)) {
    std::string path = reader.path;
    saved_.emplace(std::move(path), std::move(reader));
  }
  if (settings_.follow && !settings_.collect.kinds.empty()) {
    collector_ = std::make_unique<EvidenceCollector>(
        settings_.collect, settings_.host, settings_.state,
        [this](const CollectedText& evidence) { return put_collected(evidence); });
    wanted_loop_ = std::make_unique<WantedLoop>(settings_.server, settings_.host, *collector_);
  }
  // Others need descriptors, too: the connection, folders, files that are looked at.
  constexpr std::size_t kOthers = 128;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  most_logs_ = std::min<std::size_t>(kMostLogs,
                                     std::max<std::size_t>(limit.rlim_cur, kOthers + 1) - kOthers);
}

ShipAgent::~ShipAgent() = default;

void ShipAgent::stop() {
  stopped_ = true;
  watch_.stop();
}

void ShipAgent::open_log(const std::string& path, ReaderState saved, std::uint64_t start,
                         bool only_current, bool keeps_to_open_files) {
  FollowSettings follow{.folder = settings_.state.string(),
                        .only_current = only_current,
                        .keeps_to_open_files = keeps_to_open_files};
  if (settings_.since.count() > 0) follow.not_before = seconds_ago(settings_.since);
  auto log = std::make_unique<FollowedLog>(std::move(saved), start, std::move(follow));
  Entry& entry = entries_[path];
  if (entry.reader != nullptr) pass_on_held(entry);  // to where it belongs
  if (entry.log != nullptr && entry.log->keeps_to_open_files()) log->keep_to_open_files();
  entry.log = log.get();
  entry.reader = std::move(log);
  entry.memory = {};
}

// stdin and the kernel's messages.
void ShipAgent::begin_streams() {
  const ProcessLabels own = labels_of(own_environment);
  LogTarget target{.job = settings_.job.empty() ? own.job : settings_.job,
                   .host = settings_.host,
                   .source = settings_.source,
                   .rank = settings_.rank};
  if (settings_.from_stdin) {
    // What an earlier run left is another stream.
    while (spool_.end_of(target)) target.source = next_name(target.source);
    auto pipe =
        std::make_unique<PipedLog>(ReaderState{.path = kStdin, .target = target}, STDIN_FILENO);
    Entry& entry = entries_[kStdin];
    entry.pipe = pipe.get();
    entry.reader = std::move(pipe);
  }
  if (!settings_.kernel) return;
  target.rank = -1;
  target.source = fmt::format("{}/kmsg/{}", settings_.host, boot_id().substr(0, 8));
  ReaderState saved{.path = settings_.kernel_device, .target = target};
  const auto known = saved_.find(saved.path);
  if (known != saved_.end() && known->second.target.job == target.job &&
      known->second.target.source.starts_with(target.source))
    saved = known->second;
  saved_.erase(settings_.kernel_device);
  const std::uint64_t start = std::max(saved.acknowledged, spool_.end_of(saved.target).value_or(0));
  Entry& entry = entries_[settings_.kernel_device];
  if (saved.acknowledged > 0) sender_.trust(saved.target);
  auto ring = std::make_unique<KernelRing>(std::move(saved), start, boot_time_of_host());
  if (!ring->ok())
    throw std::runtime_error(fmt::format(
        "{} cannot be read; run as root, or give the container CAP_SYSLOG and the device",
        settings_.kernel_device));
  entry.reader = std::move(ring);
}

const LogHolders& ShipAgent::holders() {
  const Clock::time_point now = Clock::now();
  if (!holders_ || now - holders_at_ > kBetweenLooksAtHolders) {
    holders_.emplace(settings_.proc);
    holders_at_ = now;
  }
  return *holders_;
}

// What was given counts, else what the process says that writes the log. Null: it may still come.
std::optional<LogTarget> ShipAgent::target_for(const std::string& path, bool& asks_holders) {
  LogTarget target{.job = settings_.job,
                   .host = settings_.host,
                   .source = source_name(settings_.host, path),
                   .rank = settings_.rank};
  asks_holders = settings_.follow && (target.job.empty() || target.rank < 0);
  std::optional<ProcessLabels> labels;
  struct stat status{};
  if (asks_holders && stat(path.c_str(), &status) == 0)
    labels = holders().of({status.st_dev, status.st_ino});
  if (labels && target.rank < 0) target.rank = labels->rank;
  if (!target.job.empty()) return target;
  if (labels)
    target.job = labels->job;
  else
    target.job = labels_of(own_environment).job;
  if (!target.job.empty()) return target;
  const Clock::time_point now = Clock::now();
  const bool waits = settings_.follow && !labels &&
                     now - seen_.emplace(path, now).first->second < kLongestForHolder;
  if (waits) return std::nullopt;
  target.job = kUnlabelled;
  return target;
}

// It is there, and new enough.
bool ShipAgent::may_begin(const std::string& path) const {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  return settings_.since.count() == 0 ||
         static_cast<double>(status.st_mtim.tv_sec) >= seconds_ago(settings_.since);
}

void ShipAgent::begin_log(const std::string& path) {
  bool asks_holders = false;
  const std::optional<LogTarget> target = target_for(path, asks_holders);
  if (!target) return;
  seen_.erase(path);
  // Older files may be those of an earlier job.
  const bool only_current = asks_holders && settings_.job.empty();
  open_log(path, {.path = path, .target = *target}, 0,
           had_parts_of_their_own(path) || only_current);
  entries_[path].asks_holders = asks_holders;
  say(LogLevel::info, "ship",
      fmt::format("{}: to job {}{}", path, target->job,
                  target->rank < 0 ? "" : fmt::format(", rank {}", target->rank)));
}

void ShipAgent::go_on_with(const std::string& path, ReaderState saved, bool is_part) {
  // What is said on the command line now counts, whatever was said before.
  const LogTarget& before = saved.target;
  if ((!settings_.job.empty() && settings_.job != before.job) || settings_.host != before.host ||
      (settings_.rank >= 0 && settings_.rank != before.rank)) {
    if (!is_part && may_begin(path)) begin_log(path);
    return;
  }
  if (saved.acknowledged > 0) sender_.trust(before);
  const std::uint64_t start = std::max(saved.acknowledged, spool_.end_of(saved.target).value_or(0));
  say(LogLevel::info, "ship",
      fmt::format("{}: to job {} from byte {} on", path, before.job, start));
  open_log(path, std::move(saved), start, false, is_part);
  entries_[path].asks_holders = settings_.follow && (settings_.job.empty() || settings_.rank < 0);
}

// Of nccl.log.1 without a nccl.log: it is a log of its own, such as rank.1, or the log is rotated
// just now.
bool ShipAgent::waits_for_its_log(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  if (!settings_.follow || log_name_of(name) == name) return false;
  const Clock::time_point now = Clock::now();
  return now - seen_.emplace(path, now).first->second < kLongestForItsLog;
}

// Files of names such as nccl.log.1 were logs of their own until this log came. What is in them was
// sent as theirs, and the files that will have their names are parts of this one.
bool ShipAgent::had_parts_of_their_own(const std::string& path) {
  bool any = false;
  for (auto& [other, entry] : entries_) {
    if (other == path || entry.log == nullptr || log_of(other) != path) continue;
    entry.log->keep_to_open_files();
    any = true;
  }
  return any;
}

// The same, for logs of their own that an earlier agent read.
void ShipAgent::go_on_with_parts(const std::set<std::string>& logs) {
  std::vector<std::string> paths;
  for (const auto& [path, saved] : saved_)
    if (const std::string log = log_of(path); log != path && logs.contains(log))
      paths.push_back(path);
  for (const std::string& path : paths) {
    if (entries_.size() >= most_logs_) return;
    go_on_with(path, std::move(saved_.extract(path).mapped()), true);
  }
}

void ShipAgent::find() {
  found_at_ = Clock::now();
  std::set<std::string> known;
  for (const auto& [path, entry] : entries_) known.insert(path);
  for (const auto& [path, saved] : saved_) known.insert(path);
  const FoundLogs found = find_logs(settings_.paths, known, settings_.state.string(), kMostFound);
  go_on_with_parts(found.logs);
  for (const std::string& path : found.logs) {
    if (entries_.contains(path)) continue;
    if (entries_.size() >= most_logs_) {
      if (!std::exchange(said_too_many_, true))
        say(LogLevel::warning, "ship",
            fmt::format("{} logs are followed; others are not read", most_logs_));
      break;
    }
    if (auto known_before = saved_.extract(path))
      go_on_with(path, std::move(known_before.mapped()));
    else if (!may_begin(path))
      seen_.erase(path);
    else if (!waits_for_its_log(path))
      begin_log(path);
  }
  std::erase_if(seen_, [&](const auto& seen) { return !found.logs.contains(seen.first); });
  watch_.watch(found.folders);
}

// A new file has the log's name. If processes of another job or rank write it, it is no part of the
// stream that went before.
bool ShipAgent::belongs_to_others(const std::string& path, Entry& entry) {
  if (!entry.asks_holders || !entry.log->begins_current_file()) return false;
  // One look for all files that begin in this round: a hundred may be rotated at once.
  if (holders_at_ < round_began_) holders_.reset();
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  const std::optional<ProcessLabels> labels = holders().of({status.st_dev, status.st_ino});
  if (!labels) return false;
  LogTarget target = entry.reader->target();
  if (settings_.job.empty()) target.job = labels->job.empty() ? kUnlabelled : labels->job;
  if (settings_.rank < 0) target.rank = labels->rank;
  if (target == entry.reader->target()) return false;
  target.source = source_name(settings_.host, path);
  if (target.job == entry.reader->target().job)
    target.source = next_name(entry.reader->target().source);
  say(LogLevel::info, "ship", fmt::format("{}: to job {} from now on", path, target.job));
  open_log(path, {.path = path, .target = target}, 0, true);
  return true;
}

void ShipAgent::hear() {
  for (const ServerNews& news : sender_.take_news()) heard(news);
}

void ShipAgent::heard(const ServerNews& news) {
  const auto found = std::ranges::find_if(
      entries_, [&](const auto& entry) { return entry.second.reader->target() == news.target; });
  if (found == entries_.end() && news.kind == ServerNews::Kind::has_more &&
      is_collected(news.target)) {
    // Each is sent once, under a name of its own: the server has the beginning of it from an agent
    // that was ended, and skips that.
    sender_.trust(news.target);
    return spool_.hold(news.target, {});
  }
  using Kind = ServerNews::Kind;
  if (news.kind == Kind::stands) {
    if (found != entries_.end()) found->second.memory.answer(news.cursor, Clock::now());
    return;
  }
  // The places of all that was taken are about to change.
  if (news.kind != Kind::acknowledged && found != entries_.end()) {
    found->second.memory.forget();
    pass_on_held(found->second);
  }
  if (news.kind == Kind::stands_elsewhere || news.kind == Kind::takes_no_blocks) {
    if (found == entries_.end()) return heard_of_unread(news.target.source, nullptr, news);
    return heard_of_unread(found->first, &found->second, news);
  }
  if (found == entries_.end()) {
    // Its log is gone; the server gets what there is of it.
    if (news.kind != ServerNews::Kind::acknowledged)
      spool_.move(news.target, news.target, news.offset);
    return;
  }
  auto& [path, entry] = *found;
  switch (news.kind) {
    case ServerNews::Kind::acknowledged:
      return entry.reader->acknowledge(news.offset);
    case ServerNews::Kind::has_less:
      say(LogLevel::warning, "ship",
          fmt::format("{}: the server has only the first {} bytes; it gets the rest again", path,
                      news.offset));
      put_taken();
      if (entry.reader->rewind(news.offset)) return spool_.drop(news.target);
      return entry.reader->go_on_at(spool_.move(news.target, news.target, news.offset));
    case ServerNews::Kind::has_more:
      put_taken();
      return heard_of_more(path, entry, news);
    default:
      return;
  }
}

// What we read of a log does not help the server. It gets the lines, as long as files hold them.
void ShipAgent::heard_of_unread(const std::string& name, Entry* entry, const ServerNews& news) {
  put_taken();
  if (entry != nullptr) {
    if (entry->reader->rewind(news.offset)) return spool_.drop(news.target);
  }
  if (news.kind == ServerNews::Kind::stands_elsewhere) {
    sender_.insist(news.target);
    return spool_.hold(news.target, {});
  }
  // Nothing is given up that may be taken later, or whose files may still be found.
  const bool is_looked_for = entry != nullptr || found_at_ != Clock::time_point{};
  if (!news.for_good || !is_looked_for)
    return spool_.hold(news.target, Clock::now() + kUntilBlocksAgain);
  say(LogLevel::error, "ship",
      fmt::format(
          "{}: the server cannot take what was read here from byte {} on, and no file holds "
          "it any more; it is lost",
          name, news.offset));
  const std::uint64_t end =
      spool_.move(news.target, news.target, news.offset, Spool::Blocks::forgotten);
  if (entry != nullptr) entry->reader->go_on_at(end);
}

// The server has bytes of a source of this name, although we never sent any.
void ShipAgent::heard_of_more(const std::string& path, Entry& entry, const ServerNews& news) {
  if (entry.reader->pass_held(news.offset, news.proof)) {
    spool_.drop(news.target);
    sender_.trust(news.target);
    return entry.reader->acknowledge(news.offset);
  }
  LogTarget other = news.target;
  other.source = next_name(other.source);
  say(LogLevel::warning, "ship",
      fmt::format("{}: the server has {} bytes under its name, which are not its beginning; it is "
                  "sent as {}",
                  path, news.offset, other.source));
  entry.reader->rename(other);
  must_save_ = true;
  if (entry.pipe == nullptr) return spool_.drop(news.target);  // it was begun again
  entry.reader->go_on_at(spool_.move(news.target, other, 0));
}

void ShipAgent::pass_on(Entry& entry) {
  if (!entry.held.empty() && !waits_for_server(entry)) pass_on_held(entry);
}

void ShipAgent::pass_on_held(Entry& entry) {
  for (const StreamPiece& piece : std::exchange(entry.held, {})) {
    held_bytes_ -= piece.bytes.size();
    taken_.push_back(spooled(entry, piece));
    taken_bytes_ += taken_.back().packed.size();
    if (taken_bytes_ >= kAtOnce) put_taken();
  }
}

// Whether what was taken of a log waits until the server says with which memory it is to be read.
bool ShipAgent::waits_for_server(Entry& entry) {
  if (!own_reader_ || entry.log == nullptr) return false;
  if (!sender_.may_take_blocks()) {
    entry.memory.forget();
    return false;
  }
  const Clock::time_point now = Clock::now();
  if (entry.memory.waits(now)) return true;
  const LogTarget& target = entry.reader->target();
  if (!entry.memory.may_ask(now)) return false;
  // It says where it stands: that must be where the log stands, so nothing may be on its way.
  if (spool_.end_of(target)) return sender_.trouble().empty() && entry.memory.waits_for_rest(now);
  entry.memory.ask(now);
  sender_.ask_where_it_stands(target);
  return true;
}

SpooledPiece ShipAgent::spooled(Entry& entry, const StreamPiece& piece) {
  SpooledPiece spooled{.target = entry.reader->target(),
                       .from = piece.from,
                       .to = piece.to(),
                       .boot_time = entry.reader->boot_time(),
                       .packed = {},
                       .reader = {}};
  std::optional<std::string> blocks;
  if (own_reader_ && entry.log != nullptr)
    blocks = entry.memory.read(*own_reader_, piece.from, piece.bytes, Clock::now());
  spooled.packed = packed(blocks ? *blocks : piece.bytes);
  if (blocks) spooled.reader = own_reader_->version();
  return spooled;
}

bool ShipAgent::take_from(const std::string& path, Entry& entry) {
  pass_on(entry);  // or it would hold up other logs while it is refused itself
  if (!spool_.has_room(entry.reader->target())) {
    if (entry.pipe != nullptr) thrown_away_ += entry.pipe->throw_away();
    if (entry.log != nullptr) entry.log->look_on();
    return false;
  }
  if (held_bytes_ >= kMostHeld) return false;
  std::optional<StreamPiece> piece;
  // Again at once if a new file begins: until its first bytes are read it cannot be known again.
  for (int attempt = 0; attempt < 2 && !piece; ++attempt) {
    if (entry.log != nullptr && belongs_to_others(path, entry)) must_save_ = true;
    piece = entry.reader->take(kAtOnce, !settings_.follow);
    if (entry.log == nullptr || !entry.log->begins_current_file()) break;
  }
  LogReader& reader = *entry.reader;
  if (reader.must_be_saved()) must_save_ = true;
  for (const std::string& remark : reader.take_remarks())
    say(LogLevel::warning, "ship", fmt::format("{}: {}", path, remark));
  if (!piece) {
    pass_on(entry);
    return false;
  }
  took_much_ = took_much_ || piece->bytes.size() >= kAtOnce / 2;
  held_bytes_ += piece->bytes.size();
  entry.held.push_back(std::move(*piece));
  pass_on(entry);
  return true;
}

// Whoever goes on after us must know of a file before anything of it leaves.
void ShipAgent::put_taken() {
  if (must_save_) save(true);
  for (SpooledPiece& piece : taken_) spool_.put(std::move(piece));
  taken_.clear();
  taken_bytes_ = 0;
}

bool ShipAgent::take_round() {
  bool any = false;
  took_much_ = false;
  round_began_ = Clock::now();
  for (auto& [path, entry] : entries_) any = take_from(path, entry) || any;
  put_taken();
  return any;
}

void ShipAgent::tell_collector() {
  if (!collector_ || Clock::now() - told_collector_at_ < kBetweenListsOfJobs) return;
  told_collector_at_ = Clock::now();
  std::map<std::string, LogsOfJob> logs;
  for (const auto& [path, entry] : entries_)
    logs[entry.reader->target().job].emplace(path, entry.reader->target().rank);
  collector_->know_logs(std::move(logs));
}

// By the thread that collects: whatever hangs while files are read does not hold evidence up.
bool ShipAgent::put_collected(const CollectedText& evidence) {
  if (!spool_.has_room(evidence.target)) return false;
  sender_.trust(evidence.target);
  const std::string_view text = evidence.text;
  for (std::size_t at = 0; at < text.size(); at += kAtOnce) {
    const std::string_view part = text.substr(at, kAtOnce);
    spool_.put({.target = evidence.target,
                .from = at,
                .to = at + part.size(),
                .boot_time = {},
                .packed = packed(part),
                .final = at + part.size() == text.size()});
  }
  return true;
}

// Logs that were deleted and read to their ends.
void ShipAgent::forget_gone() {
  const auto is_gone = [&](const auto& item) {
    const Entry& entry = item.second;
    return entry.log != nullptr && entry.log->is_gone() && entry.held.empty() &&
           !spool_.end_of(entry.reader->target()).has_value();
  };
  if (std::erase_if(entries_, is_gone) > 0) must_save_ = true;
}

void ShipAgent::save(bool now) {
  if (!now && Clock::now() - saved_at_ < kBetweenSaves) return;
  saved_at_ = Clock::now();
  must_save_ = false;
  std::vector<ReaderState> all;
  for (const auto& [path, entry] : entries_)
    if (entry.pipe == nullptr) all.push_back(entry.reader->saved());
  for (const auto& [path, reader] : saved_) all.push_back(reader);
  if (!write_state(settings_.state, all))
    say(LogLevel::error, "ship", fmt::format("cannot write to {}", settings_.state.string()));
}

bool ShipAgent::all_sent() const {
  return spool_.empty() && held_bytes_ == 0 && std::ranges::all_of(entries_, [](const auto& item) {
           const Entry& entry = item.second;
           return entry.pipe == nullptr ? entry.reader->at_end() : entry.reader->is_over();
         });
}

bool ShipAgent::run() {
  begin_streams();
  std::jthread sending([this] { sender_.run(); });
  std::jthread collecting;
  struct StopsThreads {
    Sender& sender;
    WantedLoop* wanted;
    ~StopsThreads() {
      sender.stop();
      if (wanted != nullptr) wanted->stop();
    }
  } const stops{sender_, wanted_loop_.get()};  // before threads are joined, whatever happens
  Clock::time_point good = Clock::now();
  bool in_time = true;
  bool came = true;  // files came or went
  while (!stopped_) {
    hear();
    const auto since_search = Clock::now() - found_at_;
    const bool wanted = came || !seen_.empty();
    if (!settings_.paths.empty() &&
        (since_search >= kBetweenSearches || (wanted && since_search >= kBetweenLooksAtHolders)))
      find();
    const bool any = take_round();
    tell_collector();
    // Not before it knows of which jobs there are logs.
    if (wanted_loop_ && !collecting.joinable())
      collecting = std::jthread([this] { wanted_loop_->run(); });
    forget_gone();
    save(must_save_);
    if (!settings_.follow && !any && all_sent()) break;
    if (sender_.trouble().empty()) good = Clock::now();
    in_time = settings_.follow || Clock::now() - good < settings_.retry_for;
    if (!in_time) break;
    const auto pipe = entries_.find(kStdin);
    const bool seen_stdin_end = pipe == entries_.end() || pipe->second.reader->is_over();
    const auto pause = took_much_ ? std::chrono::milliseconds{0} : any ? kBetweenRounds : kIdle;
    came = watch_.wait(pause, seen_stdin_end ? -1 : STDIN_FILENO);
  }
  if (wanted_loop_) wanted_loop_->stop();
  if (collecting.joinable()) collecting.join();
  for (auto& [path, entry] : entries_) pass_on_held(entry);
  put_taken();
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
  if (entries_.empty() && !settings_.follow) {
    say(LogLevel::error, "ship", "there is no file to send");
    return false;
  }
  bool all = spool_.empty();
  for (const auto& [path, entry] : entries_) {
    if (!all || settings_.follow || (!settings_.final && !entry.reader->is_over())) continue;
    all = sender_.finish(entry.reader->target(), entry.reader->saved().acknowledged);
  }
  return all;
}

}  // namespace faultline
