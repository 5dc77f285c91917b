#include "service/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

namespace faultline {
namespace {

std::string in_words(std::size_t number) {
  constexpr std::array<const char*, 13> kWords{"no",   "one",    "two",   "three", "four",
                                               "five", "six",    "seven", "eight", "nine",
                                               "ten",  "eleven", "twelve"};
  return number < kWords.size() ? kWords[number] : std::to_string(number);
}

bool is_of_a_program(const Failure& failure) { return is_of(failure.cause, Family::software); }

Repeat sum_of(const std::vector<Failure>& failures) {
  std::set<std::string> jobs;
  std::set<std::string> causes;
  Repeat repeat{.first = failures.front().when, .last = failures.front().when};
  for (const Failure& failure : failures) {
    jobs.insert(failure.job);
    causes.emplace(name_of(failure.cause));
    repeat.first = std::min(repeat.first, failure.when);
    repeat.last = std::max(repeat.last, failure.when);
  }
  repeat.jobs = jobs.size();
  repeat.causes = {causes.begin(), causes.end()};
  repeat.days = std::max(
      1,
      static_cast<int>(std::chrono::ceil<std::chrono::days>(repeat.last - repeat.first).count()));
  return repeat;
}

}  // namespace

std::optional<Repeat> repeat_of(std::string_view part, const std::vector<Failure>& failures) {
  std::vector<Failure> own;
  std::vector<Failure> of_programs;
  for (const Failure& failure : failures)
    (is_of_a_program(failure) ? of_programs : own).push_back(failure);
  for (const std::vector<Failure>* of : {&own, &of_programs}) {
    if (of->empty()) continue;
    Repeat repeat = sum_of(*of);
    if (repeat.jobs < 2) continue;
    const std::string jobs = in_words(repeat.jobs);
    const std::string span =
        fmt::format("in {} day{}", in_words(static_cast<std::size_t>(repeat.days)),
                    repeat.days == 1 ? "" : "s");
    repeat.text = of == &own
                      ? fmt::format("{} failed {} jobs {}", part, jobs, span)
                      : fmt::format("programs of {} jobs faulted on {} {}", jobs, part, span);
    return repeat;
  }
  return std::nullopt;
}

}  // namespace faultline
