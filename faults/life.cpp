#include "faults/life.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include "faults/answers.h"
#include "faults/checker.h"
#include "faults/doors.h"

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestReload = 60s;
constexpr auto kLongestReread = 5s;
// Within this time the server has judged again what it could not judge at once.
constexpr auto kLongestSettling = 5s;
// A server that has run out of memory says why before it ends.
constexpr auto kLongestEnd = 2s;

constexpr std::string_view kIdOfNotes = "faults.note";
constexpr const char* kRulesLikeNotes = "/api/v1/rules?class=host.error&limit=1000";
constexpr std::string_view kNotesAreFacts = R"(
- id: faults.note
  class: host.error
  title: "A note"
  weight: echo
  severity: info
  literals: ["all is well"]
  pattern: 'all is well$'
  matches: ["note 000000006 of rank0-0.log: all is well"]
)";

std::filesystem::path made(std::filesystem::path folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "data");
  return folder;
}

}  // namespace

Life::Life(Programs programs, std::filesystem::path folder, Journal journal)
    : programs_(std::move(programs)),
      folder_(std::move(folder)),
      steering_(made(folder_) / "control"),
      server_(programs_, folder_, steering_, journal == Journal::kept) {}

Life::~Life() {
  server_.kill_now();
  std::error_code ignored;
  if (!kept_at_.empty()) {
    std::filesystem::create_directories(kept_at_, ignored);
    std::filesystem::copy(folder_, kept_at_,
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing,
                          ignored);
  }
  std::filesystem::remove_all(folder_, ignored);
}

bool Life::start(Verdict& verdict) {
  if (server_.start()) return true;
  verdict.fail(fmt::format("it does not start: {}", server_.messages()));
  return false;
}

std::unique_ptr<Load> Life::load(Random& random, InternalErrors internal_errors) {
  return std::make_unique<Load>(
      ledger_, server_.port(), random.seed(), [this] { return steering_.journal_bytes(); },
      internal_errors);
}

void Life::finish(Load& load, Verdict& verdict) {
  load.stop();
  verdict.acknowledged += load.counts().acknowledged;
  verdict.refused += load.counts().refused;
  verdict.unanswered += load.counts().unanswered;
  verdict.fail_with(load.failures());
}

void Life::load_for(std::chrono::milliseconds duration, Random& random, Verdict& verdict) {
  const auto clients = load(random);
  std::this_thread::sleep_for(duration);
  finish(*clients, verdict);
}

void Life::know_notes(bool are_facts, Verdict& verdict) {
  const std::filesystem::path file = server_.rules() / "notes.yaml";
  if (are_facts)
    std::ofstream(file) << kNotesAreFacts;
  else
    std::filesystem::remove(file);
  ledger_.notes = Notes::either;
  server_.reload();
  for (const auto end = std::chrono::steady_clock::now() + kLongestReload;
       std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(2ms))
    if (const Answer rules = get(server_.port(), kRulesLikeNotes);
        rules.status == 200 && (rules.body.find(kIdOfNotes) != std::string::npos) == are_facts)
      return;
  verdict.fail("the server does not read its rules again");
}

bool Life::reread() {
  Client client(server_.port());
  for (const std::string& job : jobs_of(ledger_)) {
    const auto end = std::chrono::steady_clock::now() + kLongestReread;
    Answer answer;
    for (; std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(5ms)) {
      answer = client.post(fmt::format("/api/v1/jobs/{}/reanalyze", job));
      if (answer.status != 503) break;  // it is shortening calls
    }
    if (answer.status != 200) return false;
  }
  return true;
}

void Life::restart_and_check(Verdict& verdict) {
  if (!start(verdict)) return;
  ++verdict.checks;
  verdict.fail_with(check(ledger_, server_.database(), server_.port(), Stage::after_fault));
  send_the_rest_and_check(verdict);
}

void Life::go_on_and_check(Verdict& verdict, bool may_have_ended) {
  if (may_have_ended && get(server_.port(), "/healthz").status == 0)
    server_.ends_within(kLongestEnd);
  if (server_.lives()) return send_the_rest_and_check(verdict);
  if (!may_have_ended)
    verdict.fail(fmt::format("the server has ended by itself: {}", server_.messages()));
  restart_and_check(verdict);
}

void Life::send_the_rest_and_check(Verdict& verdict) {
  verdict.fail_with(send_the_rest(ledger_, server_.port()));
  ++verdict.checks;
  verdict.fail_with(check(ledger_, server_.database(), server_.port(), Stage::after_rest));
}

void Life::end_fault_and_check(Random& random, Verdict& verdict) {
  // A server that dies is started again when the fault is over.
  const bool dies = random.one_in(2);
  if (dies) server_.kill_now();
  if (dies && random.one_in(3)) {
    // Start it too early: it may serve or refuse, but must not make matters worse.
    constexpr std::chrono::seconds kUntilItIsGivenUp{2};
    server_.start(kUntilItIsGivenUp);
    server_.kill_now();
  }
  steering_.relent();
  if (dies)
    restart_and_check(verdict);
  else
    go_on_and_check(verdict);
}

void Life::compare_with_twin(Verdict& verdict) {
  Life twin(programs_, folder_.string() + ".twin");
  std::filesystem::copy(server_.rules(), twin.server_.rules(),
                        std::filesystem::copy_options::recursive);
  if (!twin.start(verdict)) return;
  Random random(1);
  Client client(twin.server_.port());
  for (const SentSource& source : ledger_.sources) {
    if (source.bodies.empty()) continue;
    const SentBody all{.begin = 0, .end = source.text.size()};
    client.send(shipment_of(source, all), Way::whole, random);
  }
  const std::vector<std::string> jobs = jobs_of(ledger_);
  ++verdict.checks;
  std::vector<std::string> all;
  const auto end = std::chrono::steady_clock::now() + kLongestSettling;
  do {
    all = differences(answers_of(twin.server_.port(), jobs, Forget::arrival),
                      answers_of(server_.port(), jobs, Forget::arrival));
    if (!all.empty()) std::this_thread::sleep_for(100ms);
  } while (!all.empty() && std::chrono::steady_clock::now() < end);
  for (const std::string& difference : all)
    verdict.fail(fmt::format("differs from a server without faults: {}", difference));
}

}  // namespace faultline::faults
