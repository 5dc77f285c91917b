#include "faults/load.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <chrono>
#include <utility>

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenTries = 3ms;
constexpr auto kLongestRest = 15s;

// Mostly a few lines, at times so many that the service commits them in several parts.
std::uint64_t lines_of_a_body(Random& random) {
  return random.one_in(8) ? random.between(60, 200) : random.between(1, 12);
}

Way way_of(Random& random) {
  if (random.one_in(40)) return Way::broken_off;
  return random.one_of(
      std::array{Way::whole, Way::whole, Way::gzip, Way::pieces, Way::gzip_in_pieces});
}

std::int64_t next_offset_in(const Answer& answer) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(answer.body, error);
  if (error || !value.is_object()) return -1;
  const boost::json::value* offset = value.as_object().if_contains("next_offset");
  return offset != nullptr && offset->is_int64() ? offset->as_int64() : -1;
}

}  // namespace

std::string target_of(const SentSource& source, const SentBody& body) {
  std::string target = fmt::format("/api/v1/ingest?job={}&source={}", source.job, source.name);
  if (source.says_offset) target += fmt::format("&offset={}", body.begin);
  return target;
}

std::string judge(const Answer& answer, const SentSource& source, const SentBody& body) {
  const auto wrong = [&] {
    return fmt::format("{}: bytes {} to {} were answered with {}: {}", source.name, body.begin,
                       body.end, answer.status, answer.body);
  };
  switch (answer.status) {
    case 0:    // nothing is promised
    case 408:  // too slow for it
    case 503:  // the disk refuses, or it has no more connections
      return {};
    case 200:
      return next_offset_in(answer) == static_cast<std::int64_t>(body.end) ? "" : wrong();
    case 409:
      // An earlier connection of ours still has the source. A gap would be a loss: we begin where
      // the acknowledged bytes end.
      return answer.body.find("leaves a gap") == std::string::npos ? "" : wrong();
    default:
      return wrong();
  }
}

Load::Load(Ledger& ledger, int port, std::uint64_t seed,
           std::function<std::uint64_t()> journal_bytes, InternalErrors internal_errors)
    : ledger_(ledger),
      port_(port),
      journal_bytes_(std::move(journal_bytes)),
      internal_errors_(internal_errors) {
  Random random(seed);
  for (std::size_t client = 0; client < kClients; ++client)
    clients_.emplace_back([this, client, own = random.seed()] { send(client, own); });
}

void Load::stop() {
  stopping_ = true;
  clients_.clear();
}

void Load::send(std::size_t client, std::uint64_t seed) {
  Random random(seed);
  Client connection(port_);
  while (!stopping_) {
    SentSource& source =
        ledger_.sources[client * kSourcesOfClient + random.between(0, kSourcesOfClient - 1)];
    if (source.unacknowledged() == nullptr) source.add_body(lines_of_a_body(random));
    if (!send_body(connection, source, random)) std::this_thread::sleep_for(kBetweenTries);
    if (random.one_in(10)) connection.hang_up();
  }
}

bool Load::send_body(Client& client, SentSource& source, Random& random) {
  SentBody& body = *source.unacknowledged();
  const Way way = way_of(random);
  const Answer answer = client.put(target_of(source, body), source.text_of(body), way, random);
  const bool excused = answer.status == 500 && internal_errors_ == InternalErrors::excused;
  if (std::string wrong = judge(answer, source, body); !wrong.empty() && !excused) {
    const std::lock_guard lock(failures_mutex_);
    failures_.push_back(std::move(wrong));
  }
  if (answer.status == 200) {
    body.journal_bytes = journal_bytes_();
    body.acknowledged = true;
    ++counts_.acknowledged;
    return true;
  }
  if (answer.status != 0)
    ++counts_.refused;
  else if (way != Way::broken_off)
    ++counts_.unanswered;
  return false;
}

std::vector<std::string> send_the_rest(Ledger& ledger, int port) {
  std::vector<std::string> failures;
  Random random(1);
  Client client(port);
  const auto end = std::chrono::steady_clock::now() + kLongestRest;
  for (SentSource& source : ledger.sources) {
    SentBody* body = source.unacknowledged();
    if (body == nullptr) continue;
    Answer answer;
    std::string wrong;
    do {
      answer = client.put(target_of(source, *body), source.text_of(*body), Way::whole, random);
      wrong = judge(answer, source, *body);
      if (answer.status == 200 || !wrong.empty()) break;
      std::this_thread::sleep_for(kBetweenTries);
    } while (std::chrono::steady_clock::now() < end);
    body->acknowledged = answer.status == 200;
    if (!wrong.empty())
      failures.push_back(wrong);
    else if (!body->acknowledged)
      failures.push_back(
          fmt::format("{}: the server still refuses a body after the fault is over: {} {}",
                      source.name, answer.status, answer.body));
  }
  return failures;
}

}  // namespace faultline::faults
