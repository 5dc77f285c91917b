#include "ship/collect/wanted_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "logging/log.h"

namespace faultline {
namespace {

constexpr int kWaitSeconds = 25;  // that the server holds a question
constexpr std::chrono::seconds kAnswerTimeout{kWaitSeconds + 20};
constexpr std::chrono::milliseconds kBetweenAsks{1000};
constexpr std::chrono::milliseconds kLongestVain{60'000};
constexpr std::chrono::minutes kUntilNewerServer{10};
constexpr int kNiceness = 10;
constexpr std::size_t kMostUntold = 64;

}  // namespace

WantedLoop::WantedLoop(ShipServer server, std::string host, EvidenceCollector& collector)
    : host_(std::move(host)),
      collector_(collector),
      link_(std::move(server), {.timeout = kAnswerTimeout,
                                // One more than is read, so that a longer one shows.
                                .most_body = kMostOfWantedAnswer + 1,
                                .reads_accepted = true,
                                .keeps_connection = true,
                                .allows = {},
                                .none_allowed = {}}) {}

void WantedLoop::stop() {
  stopped_ = true;
  collector_.stop();
  link_.stop();
  const std::lock_guard lock(mutex_);
  wakes_.notify_all();
}

void WantedLoop::run() {
  // Of this thread only, and of what it starts.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
  while (!stopped_) {
    std::chrono::milliseconds pause{};
    try {
      pause = ask_once();
    } catch (const std::exception& failure) {  // such as memory that is short
      set_trouble(failure.what());
      pause = later();
    }
    std::unique_lock lock(mutex_);
    wakes_.wait_for(lock, pause, [&] { return stopped_.load(); });
  }
}

// Said once, not with each attempt.
void WantedLoop::set_trouble(std::string trouble) {
  if (trouble == trouble_ || stopped_) return;
  if (!trouble.empty())
    say(LogLevel::warning, "collect",
        fmt::format("{} cannot ask for evidence: {}", link_.name(), in_log(trouble)));
  trouble_ = std::move(trouble);
}

std::chrono::milliseconds WantedLoop::later() {
  return std::min(kLongestVain, kBetweenAsks * (1 << std::min(vain_++, 10)));
}

std::chrono::milliseconds WantedLoop::ask_once() {
  tell_outcomes();
  ClientRequest request{
      .method = "GET",
      .target = link_.target(
          fmt::format("/api/v1/wanted?host={}&kinds={}&wait={}", query_escaped(host_),
                      query_escaped(fmt::format("{}", fmt::join(collector_.settings().kinds, ","))),
                      kWaitSeconds)),
      .headers = {},
      .body = {}};
  const ClientAnswer got = link_.ask(std::move(request));
  if (got.outcome != ClientAnswer::Outcome::answered) {
    set_trouble(got.why);
    return later();
  }
  if (got.status == 404) {
    set_trouble("it is an older version; it is asked again every 10 minutes");
    return kUntilNewerServer;
  }
  if (got.status != 200) {
    set_trouble(problem_in(got));
    return later();
  }
  return answer(got.body);
}

std::chrono::milliseconds WantedLoop::answer(const std::string& body) {
  const WantedAnswer answer = read_wanted(body);
  set_trouble(answer.fault);
  bool any = false;
  for (const CollectRequest& wanted : answer.wanted) {
    if (stopped_) break;
    const CollectOutcome outcome = collector_.collect(wanted);
    any = any || outcome.outcome != "refused";
    if (wanted.id.empty()) continue;
    untold_.push_back(boost::json::serialize(boost::json::object{
        {"id", wanted.id}, {"outcome", outcome.outcome}, {"detail", outcome.detail}}));
    if (untold_.size() > kMostUntold) untold_.pop_front();
    tell_outcomes();
  }
  // Who asks again and again for what is refused is not heard more often for it.
  if (!answer.fault.empty() || (!any && !answer.wanted.empty())) return later();
  vain_ = 0;
  return kBetweenAsks;
}

// What the server does not hear it asks for again, and then it is refused as known. So each outcome
// is kept until there was an answer, whatever it says.
void WantedLoop::tell_outcomes() {
  while (!untold_.empty()) {
    ClientRequest request{
        .method = "POST",
        .target = link_.target("/api/v1/wanted/outcome?host=" + query_escaped(host_)),
        .headers = {{"Content-Type", "application/json"}},
        .body = untold_.front()};
    const ClientAnswer got = link_.ask(std::move(request));
    if (got.outcome != ClientAnswer::Outcome::answered) return;
    untold_.pop_front();
  }
}

}  // namespace faultline
