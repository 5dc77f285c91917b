#include "http/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "doors/source_lines.h"
#include "http/connection.h"
#include "http/door_lines.h"
#include "http/ingest_problems.h"
#include "http/offload.h"
#include "http/whole_body.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::milliseconds kPause{200};
// How long a body waits for another one of the same source.
constexpr std::chrono::seconds kMostWait{20};

std::variant<DestinationDefaults, Problem> defaults_of(const Request& request,
                                                       const Services& services,
                                                       std::string_view door) {
  DestinationDefaults defaults;
  defaults.job = job_of_unlabelled(services);
  const auto name = [&](std::string_view parameter,
                        std::string& value) -> std::variant<bool, Problem> {
    auto given = request.query.text(parameter);
    if (!given) return false;
    if (const auto good = check_name(parameter, *given); !good) return problem_from(good.error());
    value = std::move(*given);
    return true;
  };
  auto job = name("job", defaults.job);
  if (Problem* problem = std::get_if<Problem>(&job)) return std::move(*problem);
  defaults.job_given = std::get<bool>(job);
  auto host = name("host", defaults.host);
  if (Problem* problem = std::get_if<Problem>(&host)) return std::move(*problem);
  defaults.host_given = std::get<bool>(host);
  const auto rank = request.query.number("rank", 0, 10'000'000);
  if (!rank) return problem_from(rank.error());
  if (*rank) defaults.rank = static_cast<int>(**rank);
  defaults.sender = request.peer;
  defaults.source = door;
  auto source = name("source", defaults.source);
  if (Problem* problem = std::get_if<Problem>(&source)) return std::move(*problem);
  return defaults;
}

Problem taken_by_another(std::string_view source) {
  return {.status = 503,
          .detail = fmt::format("another connection is sending the source \"{}\"; send the body "
                                "again later",
                                printable_name(source)),
          .retry_after_seconds = 5};
}

class Push {
 public:
  Push(const Request& request, Services& services, Exchange& exchange)
      : request_(request),
        services_(services),
        exchange_(exchange),
        wake_(exchange.connection.waker()),
        tracker_(std::make_shared<CommitTracker>(wake_)) {}

  asio::awaitable<Pushed> run(std::string_view door, ReadMessages read) {
    auto defaults = defaults_of(request_, services_, door);
    if (Problem* problem = std::get_if<Problem>(&defaults)) co_return failed(std::move(*problem));
    HeldBodies::Share held(exchange_.threads.held_bodies(), wake_);
    auto body = co_await read_whole_body(exchange_, held);
    if (Problem* problem = std::get_if<Problem>(&body)) co_return failed(std::move(*problem));

    sent_ = std::get<std::string>(body).size();
    static const LabelNames names;
    SourceLines lines(names, std::get<DestinationDefaults>(defaults));
    std::optional<Problem> problem;
    auto take_apart = [&] {
      auto unpacked = unpacked_body(request_, std::move(std::get<std::string>(body)));
      if (Problem* why = std::get_if<Problem>(&unpacked)) {
        problem = std::move(*why);
        return;
      }
      const std::string& text = std::get<std::string>(unpacked);
      lines.limit_growth(text.size());
      problem = read(text, lines);
      if (!problem && lines.too_large())
        problem = Problem{.status = 413, .detail = "the messages consist of too many lines"};
    };
    co_await offload(exchange_.threads.parsing("", request_.peer), take_apart);
    if (problem) co_return failed(std::move(*problem));
    held.hold(lines.bytes(), steady_now());
    if (lines.too_many() > 0)
      refuse(lines.too_many(), 400,
             "the messages are of more sources or jobs than one body may have");
    if (lines.unreadable_records() > 0)
      refuse(lines.unreadable_records(), 400, "some records have no message");

    for (const auto& [destination, of_source] : lines.sources()) {
      problem = co_await take(destination, of_source);
      if (problem) break;
    }
    co_await settle();
    if (!problem && tracker_->failure()) problem = store_problem(tracker_->failure());
    // A conflict is ours to solve: senders drop a body that is answered so.
    if (problem && problem->status == 409) problem->status = 503;
    if (!problem) problem = std::exchange(later_, std::nullopt);
    co_await judge_jobs_of_door(pushed_.jobs, request_.peer, services_, exchange_.threads);
    if (problem) co_return failed(std::move(*problem));
    for (std::size_t at = 0; pushed_.refused > 0 && at < lines.source_of_message().size(); ++at) {
      const std::uint32_t source = lines.source_of_message()[at];
      if (source == SourceLines::kNoSource || refused_sources_.contains(source))
        pushed_.refused_at.push_back(at);
    }
    // Last, so that they count as refused if there is no memory for any of this.
    for (UnansweredPushes::Push& push : begun_) push.stored();
    co_return std::move(pushed_);
  }

 private:
  static Pushed failed(Problem problem) { return {.problem = std::move(problem)}; }

  void refuse(std::uint64_t messages, unsigned status, std::string why) {
    pushed_.refused += messages;
    if (!pushed_.why_refused.empty()) return;
    pushed_.why_refused = std::move(why);
    pushed_.refused_status = status;
  }

  // Why messages of the job are not taken: now (503), or ever.
  asio::awaitable<std::optional<Problem>> objection_to(const std::string& job) {
    if (!request_.may_be_told_of(job))
      co_return Problem{
          .status = 403,
          .detail = fmt::format("the token is not good for the job {}", printable_name(job))};
    co_return co_await prepare_job_of_door(job, request_.peer, services_, exchange_.threads);
  }

  asio::awaitable<std::optional<Problem>> take(const Destination& destination,
                                               const SourceLines::Lines& lines) {
    const std::string& job = destination.job;
    if (auto why = co_await objection_to(job)) {
      if (why->status == 503) {
        // The other jobs need not wait: what is stored of them is known when the body comes again.
        later_ = std::move(why);
        co_return std::nullopt;
      }
      refuse(lines.messages, why->status, why->detail);
      refused_sources_.insert(lines.number);
      co_return std::nullopt;
    }
    Source source = source_of(destination);
    std::shared_ptr<SourceLease> lease;
    const SteadyTime begun = steady_now();
    while (!lease) {
      lease = services_.jobs.open_sources().take_if_free(job, source.name, wake_);
      if (lease) break;
      if (steady_now() - begun > kMostWait || exchange_.connection.asked_to_stop())
        co_return taken_by_another(destination.source);
      co_await exchange_.connection.pause(steady_now() + kPause);
    }
    while (tracker_->in_flight() > 0 && services_.jobs.is_congested())
      co_await exchange_.connection.pause(steady_now() + kPause);
    DoorLinesTaken taken;
    const BodyStart start{.appends = true};
    auto store = [&] {
      taken = take_door_lines(std::move(source), start, lines.text, most_weight_of(sent_) - weight_,
                              std::move(lease), tracker_, services_);
    };
    co_await offload(exchange_.threads.parsing(job, request_.peer), store);
    if (taken.push) begun_.push_back(*std::move(taken.push));
    weight_ += taken.weight;
    if (taken.too_heavy) co_return tells_too_much(sent_, weight_);
    if (taken.lease_lost) co_return taken_by_another(destination.source);
    if (taken.problem) co_return taken.problem;
    pushed_.taken += lines.messages;
    if (pushed_.jobs.empty() || pushed_.jobs.back() != job) pushed_.jobs.push_back(job);
    co_return std::nullopt;
  }

  // Waits until everything handed to the store is on the disk or refused.
  asio::awaitable<void> settle() {
    while (tracker_->in_flight() > 0) co_await exchange_.connection.pause(steady_now() + kPause);
  }

  const Request& request_;
  Services& services_;
  Exchange& exchange_;
  std::function<void()> wake_;
  std::shared_ptr<CommitTracker> tracker_;
  std::size_t sent_ = 0;      // bytes of the body, as they came
  std::uint64_t weight_ = 0;  // of the events in it
  std::set<std::uint32_t> refused_sources_;
  std::vector<UnansweredPushes::Push> begun_;
  std::optional<Problem> later_;  // why a part of the body has to come again
  Pushed pushed_;
};

}  // namespace

void note_refused(const Pushed& pushed, Response& response) {
  if (pushed.refused == 0) return;
  response.refusal =
      Refusal{"messages", fmt::format("{} of {} messages: {}", pushed.refused,
                                      pushed.taken + pushed.refused, pushed.why_refused)};
}

asio::awaitable<Pushed> take_push(const Request& request, Services& services, Exchange& exchange,
                                  std::string_view door, ReadMessages read) {
  Push push(request, services, exchange);
  co_return co_await push.run(door, std::move(read));
}

}  // namespace faultline
