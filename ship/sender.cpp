#include "ship/sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <utility>

#include "logging/log.h"

namespace faultline {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kFirstPause{500};
constexpr std::chrono::milliseconds kLongestPause{30'000};
constexpr std::chrono::milliseconds kIdle{1000};
constexpr std::chrono::seconds kTimeout{60};
// What a server must be set up for: a token, a job that it knows nothing of, a job set aside.
constexpr std::chrono::seconds kUntilSetUp{15};
// A reader answers within a round of the agent.
constexpr std::chrono::minutes kForReader{10};

// What a server that reads otherwise takes may change with its next version, or its settings.
constexpr std::chrono::minutes kUntilItReadsAlike{5};
constexpr std::chrono::seconds kUntilAnswered{2};

std::string path_of(const Shipment& shipment, bool final, bool insists) {
  const LogTarget& target = shipment.target;
  std::string text =
      fmt::format("/api/v1/ingest{}?source={}&offset={}", shipment.reader.empty() ? "" : "/read",
                  query_escaped(target.source), shipment.from);
  if (!shipment.reader.empty()) text += "&reader=" + shipment.reader;
  if (!shipment.reader.empty() && insists) text += "&whatever_came_before=true";
  if (!target.job.empty()) text += "&job=" + query_escaped(target.job);
  if (!target.host.empty()) text += "&host=" + query_escaped(target.host);
  if (target.rank >= 0) text += fmt::format("&rank={}", target.rank);
  if (!shipment.boot_time.empty()) text += "&boot_time=" + query_escaped(shipment.boot_time);
  if (final) text += "&final=true";
  return text;
}

json::object object_in(std::string_view body) {
  boost::system::error_code wrong;
  json::value value = json::parse(body, wrong);
  return !wrong && value.is_object() ? std::move(value.as_object()) : json::object();
}

std::optional<std::uint64_t> number_in(const json::object& answer, std::string_view name) {
  const json::value* found = answer.if_contains(name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  boost::system::error_code wrong;
  const auto offset = found->to_number<std::uint64_t>(wrong);
  return wrong ? std::nullopt : std::optional(offset);
}

std::optional<std::uint64_t> next_offset_in(const json::object& answer) {
  return number_in(answer, "next_offset");
}

std::string reader_in(const json::object& answer) {
  const json::value* found = answer.if_contains("reader");
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

// Where the server's reader stands; nothing: it does not say it.
std::optional<Cursor> cursor_in(const json::object& answer) {
  const std::optional<std::uint64_t> offset = number_in(answer, "offset");
  const std::optional<std::uint64_t> lines = number_in(answer, "lines");
  const json::value* carry = answer.if_contains("carry");
  if (!offset || !lines || carry == nullptr || !carry->is_string()) return std::nullopt;
  Cursor cursor{.offset = *offset, .lines = *lines, .carry = {}};
  const std::string_view hex = carry->get_string();
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    unsigned byte = 0;
    const auto [end, wrong] = std::from_chars(hex.data() + at, hex.data() + at + 2, byte, 16);
    if (wrong != std::errc() || end != hex.data() + at + 2) return std::nullopt;
    cursor.carry += static_cast<char>(byte);
  }
  return cursor;
}

// An older server does not know the path; another may not be able to read them.
bool is_refusal_of_blocks(unsigned status) {
  return status == 400 || status == 404 || status == 405 || status == 413 || status == 415;
}

std::optional<HeldProof> last_block_in(const json::object& answer) {
  const json::value* found = answer.if_contains("last_block");
  if (found == nullptr || !found->is_object()) return std::nullopt;
  const json::object& block = found->get_object();
  const json::value* digest = block.if_contains("xxh3");
  boost::system::error_code wrong;
  HeldProof proof;
  if (const json::value* from = block.if_contains("from"))
    proof.from = from->to_number<std::uint64_t>(wrong);
  if (const json::value* to = block.if_contains("to"))
    proof.to = to->to_number<std::uint64_t>(wrong);
  if (wrong || digest == nullptr || !digest->is_string()) return std::nullopt;
  const std::string_view hex = digest->get_string();
  std::from_chars(hex.data(), hex.data() + hex.size(), proof.digest, 16);
  return proof;
}

// A server that was killed before it answered has what waits here, and skips it if it is sent
// again. Files may be gone, so the bytes that wait are compared.
bool begins_with(const Shipment& shipment, std::uint64_t held, const HeldProof& proof) {
  if (!shipment.reader.empty() || held > shipment.to) return false;
  ProofCheck check(proof);
  check.add_packed(shipment.body);
  return check.holds();
}

}  // namespace

Sender::Sender(ShipServer server, Spool& spool, std::string reader)
    : link_(std::move(server), {.timeout = kTimeout,
                                .most_body = std::size_t{64} << 10,
                                .reads_accepted = true,
                                .keeps_connection = true,
                                .allows = {},
                                .none_allowed = {}}),
      spool_(spool),
      reader_(std::move(reader)) {}

void Sender::stop() {
  stopped_ = true;
  link_.stop();
  spool_.wake();
}

void Sender::trust(const LogTarget& target) {
  const std::lock_guard lock(mutex_);
  begun_.insert(target);
}

bool Sender::may_take_blocks() const {
  const std::lock_guard lock(mutex_);
  return !reader_.empty() && Clock::now() >= no_blocks_until_;
}

// Said once, not with each attempt.
void Sender::take_no_blocks(std::chrono::seconds pause, std::string why) {
  const std::lock_guard lock(mutex_);
  no_blocks_until_ = Clock::now() + pause;
  if (!why.empty() && why != why_no_blocks_)
    say(LogLevel::info, "ship", fmt::format("{} {}: it gets lines as they are", link_.name(), why));
  why_no_blocks_ = std::move(why);
}

void Sender::insist(const LogTarget& target) {
  const std::lock_guard lock(mutex_);
  insisted_.insert(target);
}

bool Sender::insists(const LogTarget& target) const {
  const std::lock_guard lock(mutex_);
  return insisted_.contains(target);
}

void Sender::ask_where_it_stands(const LogTarget& target) {
  {
    const std::lock_guard lock(mutex_);
    questions_.push_back(target);
  }
  spool_.wake();
}

void Sender::ask_questions() {
  std::vector<LogTarget> questions;
  {
    const std::lock_guard lock(mutex_);
    questions.swap(questions_);
  }
  for (const LogTarget& target : questions) {
    if (stopped_) return;
    tell(may_take_blocks() ? answer_of(target) : ServerNews{ServerNews::Kind::stands, target});
  }
}

ServerNews Sender::answer_of(const LogTarget& target) {
  ServerNews news{ServerNews::Kind::stands, target};
  std::string path = "/api/v1/ingest/read?source=" + query_escaped(target.source);
  if (!target.job.empty()) path += "&job=" + query_escaped(target.job);
  ClientRequest request{.method = "GET", .target = link_.target(path), .headers = {}, .body = {}};
  const ClientAnswer answer = link_.ask(std::move(request));
  const bool is_answered = answer.outcome == ClientAnswer::Outcome::answered;
  if (is_answered && (answer.status == 404 || answer.status == 405)) {
    take_no_blocks(kUntilItReadsAlike, "does not take what agents read");
  } else if (!is_answered) {
    take_no_blocks(kUntilAnswered, "");
  } else if (answer.status / 100 != 2) {
    take_no_blocks(kUntilSetUp, "");
  } else if (const json::object said = object_in(answer.body); reader_in(said) != reader_) {
    take_no_blocks(kUntilItReadsAlike, "reads lines in another way than this agent");
  } else {
    news.cursor = cursor_in(said);
    if (news.cursor && news.cursor->offset == 0) trust(target);  // it has nothing of it
  }
  return news;
}

std::vector<ServerNews> Sender::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void Sender::tell(ServerNews news) {
  const std::lock_guard lock(mutex_);
  news_.push_back(std::move(news));
}

std::string Sender::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

// Said once, not with each attempt.
void Sender::set_trouble(std::string trouble) {
  const std::lock_guard lock(mutex_);
  if (trouble == trouble_) return;
  const std::string server = link_.name();
  if (trouble.empty())
    say(LogLevel::info, "ship", fmt::format("{} takes logs again", server));
  else
    say(LogLevel::warning, "ship", fmt::format("{} {}", server, trouble));
  trouble_ = std::move(trouble);
}

// Doubles with each failure; differs from agent to agent, so that they do not come all at once.
std::chrono::milliseconds Sender::next_pause(int failures) {
  const auto pause = std::min(kLongestPause, kFirstPause * (1 << std::min(failures, 10)));
  return pause / 2 +
         std::chrono::milliseconds(random_() % static_cast<unsigned>(pause.count() / 2));
}

ClientAnswer Sender::ask(const Shipment& shipment, bool final) {
  const std::string path = path_of(shipment, final || shipment.final, insists(shipment.target));
  ClientRequest request{
      .method = "PUT", .target = link_.target(path), .headers = {}, .body = shipment.body};
  if (!request.body.empty()) request.headers.emplace_back("Content-Encoding", "zstd");
  return link_.ask(std::move(request), final);
}

void Sender::run() {
  while (!stopped_) {
    ask_questions();
    const std::optional<Shipment> shipment = spool_.next();
    if (shipment)
      send(*shipment);
    else
      spool_.wait(kIdle);
  }
}

void Sender::send(const Shipment& shipment) {
  const LogTarget& target = shipment.target;
  const bool begins = shipment.from == 0 && !is_begun(target);
  const Shipment question{.target = target, .boot_time = {}, .body = {}};
  const ClientAnswer answer = ask(begins ? question : shipment, false);
  if (answer.outcome != ClientAnswer::Outcome::answered) {
    if (stopped_) return;
    set_trouble(answer.why);
    const auto until = Clock::now() + next_pause(lost_requests_++);
    while (!stopped_ && Clock::now() < until) spool_.wait(std::chrono::milliseconds(100));
    return;
  }
  // It may be another version now.
  if (std::exchange(lost_requests_, 0) > 0) take_no_blocks(std::chrono::seconds{0}, "");
  const json::object receipt = object_in(answer.body);
  const std::optional<std::uint64_t> offset = next_offset_in(receipt);
  if (answer.status / 100 != 2 || !offset) return send_again(shipment, answer, offset);
  refused_.erase(target);
  if (refused_.empty()) set_trouble({});
  failures_.erase(target);
  if (begins && *offset > 0) {
    const std::optional<HeldProof> proof = last_block_in(receipt);
    if (!proof || !begins_with(shipment, *offset, *proof))
      return wait_for_reader({ServerNews::Kind::has_more, target, *offset, proof});
  }
  trust(target);
  if (begins) return;
  if (*offset < shipment.to) return wait_for_reader({ServerNews::Kind::has_less, target, *offset});
  if (!shipment.reader.empty()) {
    if (reader_in(receipt) != reader_)
      take_no_blocks(kUntilItReadsAlike, "reads lines in another way than this agent");
    const std::lock_guard lock(mutex_);
    insisted_.erase(target);
  }
  spool_.done(target, shipment.to);
  tell({ServerNews::Kind::acknowledged, target, shipment.to});
}

bool Sender::is_begun(const LogTarget& target) const {
  const std::lock_guard lock(mutex_);
  return begun_.contains(target);
}

// Whoever reads the log decides; nothing of it is sent before.
void Sender::wait_for_reader(ServerNews news) {
  spool_.hold(news.target, Clock::now() + kForReader);
  tell(std::move(news));
}

// Nothing is given up: whatever is wrong may be set right.
void Sender::send_again(const Shipment& shipment, const ClientAnswer& answer,
                        std::optional<std::uint64_t> offset) {
  if (answer.status == 409 && offset && *offset < shipment.from)
    return wait_for_reader({ServerNews::Kind::has_less, shipment.target, *offset});
  if (!shipment.reader.empty() && answer.status == 412)
    return wait_for_reader(
        {ServerNews::Kind::stands_elsewhere, shipment.target, offset.value_or(shipment.from)});
  if (!shipment.reader.empty() && is_refusal_of_blocks(answer.status)) {
    take_no_blocks(kUntilItReadsAlike, problem_in(answer));
    ServerNews news{ServerNews::Kind::takes_no_blocks, shipment.target,
                    offset.value_or(shipment.from)};
    // What else refuses it may be a proxy, for a moment.
    news.for_good = answer.status == 415 || (answer.status == 413 && offset);
    return wait_for_reader(std::move(news));
  }
  std::chrono::milliseconds pause = next_pause(failures_[shipment.target]++);
  unsigned asked = 0;
  const std::string& after = answer.retry_after;
  std::from_chars(after.data(), after.data() + after.size(), asked);
  constexpr unsigned kLongestAsked = 300;
  pause = std::max<std::chrono::milliseconds>(pause,
                                              std::chrono::seconds(std::min(asked, kLongestAsked)));
  const bool is_busy = answer.status == 408 || answer.status == 429 || answer.status >= 500 ||
                       (answer.status == 409 && offset);
  if (!is_busy) pause = std::max<std::chrono::milliseconds>(pause, kUntilSetUp);
  refused_.insert(shipment.target);
  set_trouble(fmt::format("{} (for {})", problem_in(answer), shipment.target.source));
  spool_.hold(shipment.target, Clock::now() + pause);
}

bool Sender::finish(const LogTarget& target, std::uint64_t offset) {
  const ClientAnswer answer = ask({.target = target, .from = offset, .to = offset}, true);
  return answer.outcome == ClientAnswer::Outcome::answered && answer.status / 100 == 2;
}

}  // namespace faultline
