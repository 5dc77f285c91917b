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

std::string path_of(const Shipment& shipment, bool final) {
  const LogTarget& target = shipment.target;
  std::string text = fmt::format("/api/v1/ingest?source={}&offset={}", query_escaped(target.source),
                                 shipment.from);
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

std::optional<std::uint64_t> next_offset_in(const json::object& answer) {
  const json::value* found = answer.if_contains("next_offset");
  if (found == nullptr || !found->is_number()) return std::nullopt;
  boost::system::error_code wrong;
  const auto offset = found->to_number<std::uint64_t>(wrong);
  return wrong ? std::nullopt : std::optional(offset);
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

}  // namespace

Sender::Sender(ShipServer server, Spool& spool)
    : link_(std::move(server), {.timeout = kTimeout,
                                .most_body = std::size_t{64} << 10,
                                .reads_accepted = true,
                                .keeps_connection = true,
                                .allows = {},
                                .none_allowed = {}}),
      spool_(spool) {}

void Sender::stop() {
  stopped_ = true;
  link_.stop();
  spool_.wake();
}

void Sender::trust(const LogTarget& target) {
  const std::lock_guard lock(mutex_);
  begun_.insert(target);
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
  ClientRequest request{.method = "PUT",
                        .target = link_.target(path_of(shipment, final || shipment.final)),
                        .headers = {},
                        .body = shipment.body};
  if (!request.body.empty()) request.headers.emplace_back("Content-Encoding", "zstd");
  return link_.ask(std::move(request), final);
}

void Sender::run() {
  while (!stopped_) {
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
  lost_requests_ = 0;
  const json::object receipt = object_in(answer.body);
  const std::optional<std::uint64_t> offset = next_offset_in(receipt);
  if (answer.status / 100 != 2 || !offset) return send_again(shipment, answer, offset);
  refused_.erase(target);
  if (refused_.empty()) set_trouble({});
  failures_.erase(target);
  if (begins && *offset > 0)
    return wait_for_reader({ServerNews::Kind::has_more, target, *offset, last_block_in(receipt)});
  trust(target);
  if (begins) return;
  if (*offset < shipment.to) return wait_for_reader({ServerNews::Kind::has_less, target, *offset});
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
