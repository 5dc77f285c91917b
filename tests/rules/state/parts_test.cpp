// Of what tools report again and again, few reports are needed: folding those that are needed, and
// any of the others, gives the same state as folding all.
#include "rules/state/parts.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "rules/state/job_state.h"

namespace faultline {
namespace {

constexpr Timestamp kBegin = Timestamp(std::chrono::hours(24 * 21'000));

struct Sent {
  Source source;
  Batch batch;
};

std::string told(const LineRef& line) {
  return fmt::format("{}:{}:{}", line.source, line.line, line.text);
}

// All that detectors can see.
std::string told(const JobState& job) {
  std::string all = fmt::format("{}\n", job.last_told() ? to_rfc3339(*job.last_told()) : "never");
  for (const SourceState& source : job.sources().all())
    all += fmt::format("{} {} {} {}\n", source.source.name, source.lines,
                       source.first_wall_us.value_or(0), source.last_wall_us.value_or(0));
  for (const Nic& nic : job.nics().all())
    all += fmt::format("{} {} {} {}\n", nic.spoken_host, nic.source, nic.device, nic.netdev);
  for (const PartRecord& record : job.parts().records()) {
    all += fmt::format("{} {} {} {} {}\n", record.tool, record.spoken_host, record.source,
                       record.begins, told(*record.last));
    for (const PartSeries& series : record.values) {
      all += fmt::format("  {}:", job.parts().text(series.name));
      for (const PartSample& sample : series.samples)
        all += fmt::format(" {}@{}", sample.value, told(*sample.line));
      all += '\n';
    }
  }
  for (const JobState::LeftOut& one : job.left_out())
    all += fmt::format("{} {}\n", one.what, one.lines);
  return all;
}

// Reports of several parts in several sources. Values are few, so that they come again and again
// and in stretches; now and then a time is missing, or the clock of one part steps back.
class Reporting {
 public:
  explicit Reporting(std::uint32_t seed)
      : random_(seed), lines_with_times_(seed % 2 == 0 ? SIZE_MAX : 80) {}

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

  Sent next() {
    const std::size_t source = below(3);
    Sent sent{.source = {.job = "j", .name = fmt::format("log{}", source), .host = "", .rank = -1},
              .batch = {}};
    sent.batch.speakers = {{.host = below(2) == 0 ? "" : "n1"}};
    for (std::size_t left = below(8); left > 0; --left) sent.batch.events.push_back(event(source));
    for (std::uint32_t i = 0; i < sent.batch.events.size(); ++i) sent.batch.events[i].order = i;
    sent.batch.lines = 8;
    if (below(40) == 0) {  // calls are later than all reports so far
      const EventTime time = EventTime::at(kBegin + std::chrono::seconds(seconds_ + 100));
      sent.batch.runs = {
          {.order = 8, .communicator = 1, .nranks = 2, .first_time = time, .last_time = time}};
    }
    return sent;
  }

 private:
  Event event(std::size_t source) {
    const std::size_t part = below(4);
    PartReport report{.tool = "t", .kind = part == 3 ? "netdev" : "gpu", .names = {}, .values = {}};
    if (part != 2) report.names.push_back({"device", fmt::format("d{}", part)});
    if (part == 3) report.names.push_back({"netdev", "eth3"});
    for (const char* name : {"a", "b", "c"})
      if (below(4) != 0) report.values.push_back({name, value(name[0])});
    seconds_ += static_cast<std::int64_t>(below(3));
    const bool steps_back = part == 0 && below(200) == 0;
    const EventTime time =
        part == 2 || below(30) == 0 || lines_[source] > lines_with_times_
            ? EventTime{}
            : EventTime::at(kBegin + std::chrono::seconds(seconds_ - (steps_back ? 500 : 0)),
                            std::chrono::seconds(below(2)));
    ++lines_[source];
    return {.line = lines_[source],
            .offset = 100 * lines_[source],
            .time = time,
            .fact = std::move(report),
            .text = fmt::format("line {}", lines_[source])};
  }

  // a: stretches of few values; b: at random of two; c: grows.
  std::string value(char name) {
    if (name == 'a' && below(6) == 0) stretch_ = below(3);
    if (name == 'a') return std::to_string(stretch_);
    return name == 'b' ? std::to_string(below(2)) : std::to_string(++grown_);
  }

  std::mt19937 random_;
  std::size_t lines_with_times_;  // of a source; later ones have none
  std::int64_t seconds_ = 0;
  std::uint64_t lines_[3] = {};
  std::size_t stretch_ = 0;
  std::size_t grown_ = 0;
};

void drop_some_not_needed(std::vector<Sent>& stored, const JobState& job, Reporting& random,
                          std::size_t one_in) {
  for (Sent& sent : stored)
    std::erase_if(sent.batch.events, [&](const Event& event) {
      return !job.needs(sent.source, sent.batch, event) && random.below(one_in) == 0;
    });
}

JobState folded(const std::vector<Sent>& stored) {
  JobState job("j");
  for (const Sent& sent : stored) job.apply(sent.source, sent.batch, kBegin);
  return job;
}

TEST(Parts, AreTheSameWithoutAnyOfTheReportsThatAreNotNeeded) {
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    Reporting reporting(seed);
    JobState whole("j");
    std::vector<Sent> stored;
    JobState lasting("j");  // of what is stored, as a server that started then has it
    for (int i = 0; i < 150; ++i) {
      stored.push_back(reporting.next());
      whole.apply(stored.back().source, stored.back().batch, kBegin);
      lasting.apply(stored.back().source, stored.back().batch, kBegin);
      if (reporting.below(20) != 0) continue;
      drop_some_not_needed(stored, lasting, reporting, 1 + reporting.below(3));
      if (reporting.below(2) == 0) lasting = folded(stored);
      ASSERT_EQ(told(lasting), told(whole)) << "seed " << seed << ", batch " << i;
    }
    ASSERT_EQ(told(folded(stored)), told(whole)) << "seed " << seed;
  }
}

Event step_of(std::uint64_t number) {
  return {.line = number,
          .offset = 100 * number,
          .time = EventTime::at(kBegin + std::chrono::seconds(number)),
          .fact = PartReport{.tool = "megatron",
                             .kind = "training",
                             .names = {},
                             .values = {{"step", std::to_string(number)},
                                        {"of", "500000"},
                                        {"loss", number % 3 == 0 ? "2.5" : "2.6"}}},
          .text = fmt::format("iteration {}", number)};
}

TEST(Parts, OfALongTrainingFewReportsAreNeededHoweverLongItIs) {
  JobState job("j");
  std::vector<Sent> stored;
  for (std::uint64_t number = 1; number <= 5000; ++number) {
    Sent sent{.source = {.job = "j", .name = "log", .host = "", .rank = -1}, .batch = {}};
    sent.batch.speakers = {{}};
    sent.batch.events = {step_of(number)};
    job.apply(sent.source, sent.batch, kBegin);
    stored.push_back(std::move(sent));
  }
  std::size_t needed = 0;
  for (const Sent& sent : stored)
    needed += job.needs(sent.source, sent.batch, sent.batch.events[0]) ? 1 : 0;
  EXPECT_LE(needed, 16u);
  EXPECT_EQ(job.parts().superseded(), 5000 - needed);
}

TEST(Parts, OfWhichSomethingWasLeftOutNeedAllTheirReports) {
  JobState job("j");
  Sent sent{.source = {.job = "j", .name = "log", .host = "", .rank = -1}, .batch = {}};
  sent.batch.speakers = {{}};
  for (std::uint64_t number = 1; number <= 50; ++number) {
    Event event = step_of(number);
    for (int i = 0; i < 1100; ++i)
      std::get<PartReport>(event.fact).values.push_back({fmt::format("value {}", i), "1"});
    event.order = static_cast<std::uint32_t>(number);
    sent.batch.events.push_back(std::move(event));
  }
  job.apply(sent.source, sent.batch, kBegin);
  ASSERT_FALSE(job.left_out().empty());
  EXPECT_TRUE(std::ranges::all_of(sent.batch.events, [&](const Event& event) {
    return job.needs(sent.source, sent.batch, event);
  })) << "the answer tells how many were left out";
}

}  // namespace
}  // namespace faultline
