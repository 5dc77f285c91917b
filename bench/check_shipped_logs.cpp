// check_shipped_logs FOLDER PORT JOB [--bytes]: compares what a server has of a job with what
// write_rotated_logs wrote to FOLDER. A row for each act: its name; how many lines were written;
// how many of those that can be read back (notes) are there, are missing, came more than once, came
// after a later one. A row "total": lines written, lines that the server counts, sources, sources
// whose host is another.
//
// --bytes: the server's bytes are to be the log's. It is sent each log as a whole, which it
// recognizes by digests of all its parts, whoever sent them: a row "bytes" says how many were
// written, and how many it had.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <iterator>
#include <map>
#include <stdexcept>

#include "faults/client.h"
#include "model/handover.h"
#include "numbered_log.h"

namespace faultline {
namespace {

namespace json = boost::json;
using faults::Client;

struct Tally {
  std::uint64_t written = 0;
  std::uint64_t there = 0;
  std::uint64_t missing = 0;
  std::uint64_t repeated = 0;
  std::uint64_t late = 0;
};

class Comparison {
 public:
  Comparison(LogFolder logs, int port, std::string job)
      : logs_(std::move(logs)), client_(port), job_(std::move(job)), acts_(acts_in(logs_)) {}

  void run(bool compares_bytes) {
    find_sources();
    for (int log = 0; log < kLogs; ++log) check(log);
    std::map<std::string, bool> said;
    for (const Act& act : acts_) {
      if (std::exchange(said[act.name], true)) continue;
      const Tally& tally = tallies_[act.name];
      fmt::print("{} {} {} {} {} {}\n", act.name, tally.written, tally.there, tally.missing,
                 tally.repeated, tally.late);
    }
    fmt::print("total {} {} {} {}\n", written_, held_, sources_, strangers_);
    if (compares_bytes) compare_bytes();
  }

 private:
  struct Source {
    std::string name;
    std::uint64_t lines = 0;
  };

  json::object ask(const std::string& target) {
    const faults::Answer answer = client_.get(target);
    if (answer.status != 200)
      throw std::runtime_error(fmt::format("{} answers {}", target, answer.status));
    return json::parse(answer.body).as_object();
  }

  void find_sources() {
    const json::object answer = ask(fmt::format("/api/v1/sources?job={}&limit=1000", job_));
    for (const json::value& entry : answer.at("sources").as_array()) {
      const json::object& source = entry.as_object();
      const std::string name(source.at("source").as_string());
      const auto lines = source.at("lines").to_number<std::uint64_t>();
      ++sources_;
      held_ += lines;
      if (source.at("host").as_string() != kHost) ++strangers_;
      for (int log = 0; log < kLogs; ++log)
        if (name.find("/" + log_name(log)) != std::string::npos)
          of_log_[log].push_back({name, lines});
    }
  }

  // How often the server has each note of a log.
  void check(int log) {
    std::map<std::uint64_t, int> found;
    std::map<std::uint64_t, bool> late;
    for (const Source& source : of_log_[log]) {
      std::uint64_t highest = 0;
      for_each_note(source, [&](std::uint64_t number) {
        ++found[number];
        if (number < highest) late[number] = true;
        highest = std::max(highest, number);
      });
    }
    std::ifstream truth(logs_.truth(log), std::ios::binary);
    std::vector<std::uint64_t> notes;
    for (std::string line; std::getline(truth, line);)
      if (const auto number = number_of_note(line)) notes.push_back(*number);
    auto note = notes.begin();
    for (const Act& act : acts_) {
      if (act.log != log) continue;
      Tally& tally = tallies_[act.name];
      tally.written += act.last + 1 - act.first;
      written_ += act.last + 1 - act.first;
      for (; note != notes.end() && *note <= act.last; ++note) {
        const int times = found[*note];
        tally.there += times > 0 ? 1 : 0;
        tally.missing += times == 0 ? 1 : 0;
        tally.repeated += times > 1 ? static_cast<std::uint64_t>(times - 1) : 0;
        tally.late += late[*note] ? 1 : 0;
      }
    }
  }

  template <class Use>
  void for_each_note(const Source& source, const Use& use) {
    constexpr std::uint64_t kAround = 200;
    constexpr std::uint64_t kPage = 2 * kAround + 1;
    for (std::uint64_t at = 1; at <= source.lines; at += kPage) {
      const std::uint64_t middle = std::min(at + kAround, source.lines);
      const json::object page =
          ask(fmt::format("/api/v1/jobs/{}/lines?source={}&line={}&around={}", job_,
                          percent_encoded(source.name), middle, kAround));
      for (const json::value& entry : page.at("lines").as_array()) {
        const json::object& line = entry.as_object();
        const auto number = line.at("line").to_number<std::uint64_t>();
        if (number < at || number >= at + kPage || !line.at("text").is_string()) continue;
        if (const auto note = number_of_note(line.at("text").as_string())) use(*note);
      }
    }
  }

  void compare_bytes() {
    std::uint64_t all = 0;
    std::uint64_t had = 0;
    faults::Random random{1};
    for (int log = 0; log < kLogs; ++log) {
      std::ifstream file(logs_.truth(log), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      all += text.size();
      if (of_log_[log].empty()) continue;
      const std::string target = fmt::format("/api/v1/ingest?job={}&host={}&source={}", job_, kHost,
                                             percent_encoded(of_log_[log].front().name));
      const faults::Answer answer =
          client_.send({.method = "PUT", .target = target, .type = {}, .body = text},
                       faults::Way::whole, random);
      if (answer.status != 200)
        throw std::runtime_error(fmt::format("{} answers {}", target, answer.status));
      const json::object receipt = json::parse(answer.body).as_object();
      if (receipt.at("next_offset").to_number<std::uint64_t>() == text.size())
        had += receipt.at("duplicate_bytes").to_number<std::uint64_t>();
    }
    fmt::print("bytes {} {}\n", all, had);
  }

  LogFolder logs_;
  Client client_;
  std::string job_;
  std::vector<Act> acts_;
  std::map<int, std::vector<Source>> of_log_;
  std::map<std::string, Tally> tallies_;
  std::uint64_t written_ = 0;
  std::uint64_t held_ = 0;
  std::size_t sources_ = 0;
  std::size_t strangers_ = 0;
};

}  // namespace
}  // namespace faultline

int main(int count, char** values) {
  using namespace faultline;
  if (count < 4) {
    fmt::print(stderr, "usage: check_shipped_logs FOLDER PORT JOB [--bytes]\n");
    return 2;
  }
  try {
    Comparison({values[1]}, std::atoi(values[2]), values[3])
        .run(count > 4 && std::string_view(values[4]) == "--bytes");
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "check_shipped_logs: {}\n", failure.what());
    return 1;
  }
}
