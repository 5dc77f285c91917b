#include "faults/load.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "faults/doors.h"

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

}  // namespace

std::string judge(const Answer& answer, const SentSource& source, const SentBody& body) {
  if (taken(answer, source, body) != Taken::wrong) return {};
  return fmt::format("{}: bytes {} to {} were answered with {}: {}", source.name, body.begin,
                     body.end, answer.status, answer.body);
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
  const Answer answer = client.send(shipment_of(source, body), way, random);
  const bool excused = answer.status == 500 && internal_errors_ == InternalErrors::excused;
  if (std::string wrong = judge(answer, source, body); !wrong.empty() && !excused) {
    const std::lock_guard lock(failures_mutex_);
    failures_.push_back(std::move(wrong));
  }
  if (taken(answer, source, body) == Taken::all) {
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
      answer = client.send(shipment_of(source, *body), Way::whole, random);
      wrong = judge(answer, source, *body);
      body->acknowledged = taken(answer, source, *body) == Taken::all;
      if (body->acknowledged || !wrong.empty()) break;
      std::this_thread::sleep_for(kBetweenTries);
    } while (std::chrono::steady_clock::now() < end);
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
