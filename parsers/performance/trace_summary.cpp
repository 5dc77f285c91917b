#include "parsers/performance/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/facts/part.h"
#include "parsers/json/json_scan.h"

namespace faultline {
namespace {

constexpr std::string_view kTool = "torch.profiler";
constexpr std::size_t kMostGpus = 8;
constexpr std::size_t kMostPieces = std::size_t{1} << 20;  // for all GPUs together
constexpr std::size_t kMostSteps = 4096;
constexpr std::size_t kToldSteps = 48;
constexpr std::size_t kMostKernels = 8192;  // names
constexpr std::size_t kToldKernels = 10;
constexpr std::size_t kNameBytes = 160;
constexpr std::int64_t kFarTs =
    1'000'000'000'000'000;  // microseconds; a later time counts from 1970, not from a base

// "5012345.123" microseconds as nanoseconds. A double would lose digits of a time since 1970.
std::optional<std::int64_t> nanoseconds(std::string_view text) {
  std::int64_t whole = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, whole);
  constexpr std::int64_t kMost = INT64_MAX / 4000;
  if (error != std::errc() || whole > kMost || whole < -kMost) return std::nullopt;
  if (rest == end) return whole * 1000;
  if (*rest != '.') {
    double value = 0;
    const auto read = std::from_chars(begin, end, value);
    if (read.ec != std::errc() || read.ptr != end ||
        !(std::abs(value) < static_cast<double>(kMost)))
      return std::nullopt;
    return static_cast<std::int64_t>(value * 1000);
  }
  std::int64_t fraction = 0;
  const char* at = rest + 1;
  for (int digit = 0; digit < 3; ++digit) {
    const bool there = at != end && *at >= '0' && *at <= '9';
    fraction = fraction * 10 + (there ? *at++ - '0' : 0);
  }
  while (at != end && *at >= '0' && *at <= '9') ++at;
  if (at != end) return std::nullopt;
  return whole * 1000 + (text.front() == '-' ? -fraction : fraction);
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool holds(std::string_view text, std::string_view lower_word) {
  return std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

// Kernels of NCCL and RCCL, NVSHMEM, MSCCL++ and DeepEP.
bool communicates(std::string_view kernel) {
  if (holds(kernel, "nccl")) return holds(kernel, "kernel");
  return holds(kernel, "nvshmem") || holds(kernel, "mscclpp") || holds(kernel, "deep_ep::");
}

bool exchanges(std::string_view kernel, std::string_view collective) {
  return holds(kernel, "sendrecv") || collective == "send" || collective == "recv";
}

bool is_kernel(std::string_view category) { return category == "kernel" || category == "Kernel"; }
bool is_copy(std::string_view category) {
  return category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" ||
         category == "Memset";
}

template <class Integer>
std::string microseconds(Integer nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

void widen(Interval& interval, std::int64_t begin, std::int64_t end) {
  if (interval.end <= interval.begin) {
    interval = {begin, end};
    return;
  }
  interval.begin = std::min(interval.begin, begin);
  interval.end = std::max(interval.end, end);
}

void save_count(std::uint64_t count, SavedBytesWriter& saved) {
  saved.number(static_cast<std::int64_t>(count));
}

std::uint64_t restored_count(SavedBytesReader& saved) {
  return static_cast<std::uint64_t>(saved.number());
}

void save_interval(const Interval& interval, SavedBytesWriter& saved) {
  saved.number(interval.begin);
  saved.number(interval.end);
}

Interval restored_interval(SavedBytesReader& saved) {
  Interval interval;
  interval.begin = saved.number();
  interval.end = saved.number();
  return interval;
}

void save_steps(const std::map<std::int64_t, Interval>& steps, SavedBytesWriter& saved) {
  save_count(steps.size(), saved);
  for (const auto& [number, window] : steps) {
    saved.number(number);
    save_interval(window, saved);
  }
}

std::map<std::int64_t, Interval> restored_steps(SavedBytesReader& saved) {
  std::map<std::int64_t, Interval> steps;
  for (std::uint64_t left = restored_count(saved); left > 0 && saved.ok(); --left) {
    const std::int64_t number = saved.number();
    steps[number] = restored_interval(saved);
  }
  return steps;
}

void save_optional(const std::optional<std::int64_t>& number, SavedBytesWriter& saved) {
  saved.number(number ? 1 : 0);
  if (number) saved.number(*number);
}

std::optional<std::int64_t> restored_optional(SavedBytesReader& saved) {
  return saved.number() == 0 ? std::nullopt : std::optional(saved.number());
}

}  // namespace

void TraceSummary::Gpu::save(SavedBytesWriter& saved) const {
  saved.number(number);
  for (const IntervalUnion& lane : lanes) lane.save(saved);
  save_steps(steps, saved);
  save_interval(span, saved);
  for (const std::uint64_t count : {kernels, communication_kernels, copies})
    save_count(count, saved);
}

void TraceSummary::Gpu::restore(SavedBytesReader& saved) {
  number = saved.number();
  for (IntervalUnion& lane : lanes) lane.restore(saved);
  steps = restored_steps(saved);
  span = restored_interval(saved);
  for (std::uint64_t* count : {&kernels, &communication_kernels, &copies})
    *count = restored_count(saved);
}

void TraceSummary::save(SavedBytesWriter& saved) const {
  save_count(gpus_.size(), saved);
  for (const Gpu& each : gpus_) each.save(saved);
  save_steps(steps_on_cpu_, saved);
  save_count(kernels_.size(), saved);
  for (const auto& [name, total] : kernels_) {
    saved.text(name);
    save_count(total.nanoseconds, saved);
    save_count(total.count, saved);
  }
  save_count(events_, saved);
  save_count(gpus_left_out_, saved);
  for (const auto* number : {&rank_, &world_size_, &base_ns_}) save_optional(*number, saved);
  saved.text(gpu_name_);
}

void TraceSummary::restore(SavedBytesReader& saved) {
  for (std::uint64_t left = restored_count(saved); left > 0 && saved.ok(); --left)
    gpus_.emplace_back().restore(saved);
  steps_on_cpu_ = restored_steps(saved);
  for (std::uint64_t left = restored_count(saved); left > 0 && saved.ok(); --left) {
    KernelTotal& total = kernels_[std::string(saved.text())];
    total.nanoseconds = restored_count(saved);
    total.count = restored_count(saved);
  }
  events_ = restored_count(saved);
  gpus_left_out_ = restored_count(saved);
  for (auto* number : {&rank_, &world_size_, &base_ns_}) *number = restored_optional(saved);
  gpu_name_ = saved.text();
}

struct TraceSummary::Fields {
  std::string_view name;
  std::string_view pid;
  std::string_view args;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

void TraceSummary::member(std::string_view key, std::string_view value) {
  if (key == "baseTimeNanoseconds") base_ns_ = integer(unquoted(value));
  if (key == "distributedInfo")
    for_each_member(value, [&](std::string_view name, std::string_view text) {
      if (name == "rank") rank_ = integer(unquoted(text));
      if (name == "world_size") world_size_ = integer(unquoted(text));
      return true;
    });
  if (key == "deviceProperties" && value.starts_with('['))
    for_each_member(value.substr(behind_blanks(value, 1)),
                    [&](std::string_view name, std::string_view text) {
                      if (name == "name") gpu_name_ = unquoted(text).substr(0, kNameBytes);
                      return true;
                    });
}

void TraceSummary::event(std::string_view object) {
  ++events_;
  std::string_view phase;
  std::string_view category;
  std::optional<std::int64_t> begin;
  std::optional<std::int64_t> duration;
  Fields fields;
  enum class What { open, nothing, work, gpu_step, cpu_step } what = What::open;
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    if (key == "ph") {
      phase = unquoted(value);
      return phase == "X";
    }
    if (key == "cat") {
      category = unquoted(value);
      what = is_kernel(category) || is_copy(category) ? What::work
             : category == "gpu_user_annotation"      ? What::gpu_step
             : category == "user_annotation"          ? What::cpu_step
                                                      : What::nothing;
      return what != What::nothing;
    }
    if (key == "name") {
      fields.name = unquoted(value);
      return what == What::work || what == What::open || fields.name.starts_with("ProfilerStep#");
    }
    if (key == "pid") fields.pid = unquoted(value);
    if (key == "ts") begin = nanoseconds(unquoted(value));
    if (key == "dur") duration = nanoseconds(unquoted(value));
    if (key == "args") fields.args = value;
    return true;
  });
  if (phase != "X" || what == What::open || what == What::nothing || !begin || !duration) return;
  if (*duration < 0 || *begin > INT64_MAX - *duration) return;
  fields.begin = *begin;
  fields.end = *begin + *duration;
  if (what == What::work)
    add_work(fields, category);
  else if (fields.name.starts_with("ProfilerStep#"))
    add_step(fields, what == What::gpu_step);
}

TraceSummary::Gpu* TraceSummary::gpu(std::int64_t number) {
  const auto known = std::ranges::find(gpus_, number, &Gpu::number);
  if (known != gpus_.end()) return &*known;
  if (gpus_.size() == kMostGpus) {
    ++gpus_left_out_;
    return nullptr;
  }
  Gpu& added = gpus_.emplace_back();
  added.number = number;
  for (Gpu& each : gpus_)
    for (IntervalUnion& lane : each.lanes) lane.set_most(kMostPieces / kLanes / gpus_.size());
  return &added;
}

void TraceSummary::add_work(const Fields& fields, std::string_view category) {
  std::string_view device = fields.pid;
  std::string_view collective_name;
  for_each_member(fields.args, [&](std::string_view key, std::string_view value) {
    if (key == "device") device = unquoted(value);
    if (key == "Collective name") collective_name = unquoted(value);
    return true;
  });
  Gpu* on = gpu(integer(device).value_or(-1));
  if (on == nullptr) return;
  widen(on->span, fields.begin, fields.end);
  if (is_copy(category)) {
    ++on->copies;
    on->lanes[copy].add(fields.begin, fields.end);
    return;
  }
  ++on->kernels;
  count_kernel(fields.name, fields.end - fields.begin);
  if (collective_name.empty() && !communicates(fields.name)) {
    on->lanes[compute].add(fields.begin, fields.end);
    return;
  }
  ++on->communication_kernels;
  on->lanes[exchanges(fields.name, collective_name) ? exchange : collective].add(fields.begin,
                                                                                 fields.end);
}

void TraceSummary::add_step(const Fields& fields, bool on_gpu) {
  const auto number = integer(fields.name.substr(fields.name.find('#') + 1));
  if (!number || fields.end == fields.begin) return;
  Gpu* on = on_gpu ? gpu(integer(fields.pid).value_or(-1)) : nullptr;
  if (on_gpu && on == nullptr) return;
  std::map<std::int64_t, Interval>& steps = on_gpu ? on->steps : steps_on_cpu_;
  const auto step = steps.try_emplace(*number).first;
  widen(step->second, fields.begin, fields.end);
  if (steps.size() > kMostSteps) steps.erase(steps.begin());
}

void TraceSummary::count_kernel(std::string_view name, std::int64_t nanoseconds) {
  name = name.substr(0, kNameBytes);
  auto known = kernels_.find(name);
  if (known == kernels_.end()) {
    if (kernels_.size() >= kMostKernels) return;
    known = kernels_.emplace(std::string(name), KernelTotal{}).first;
  }
  known->second.nanoseconds += static_cast<std::uint64_t>(nanoseconds);
  ++known->second.count;
}

EventTime TraceSummary::time_of(std::int64_t nanoseconds) const {
  const std::int64_t us = nanoseconds / 1000;
  const bool absolute = us >= kFarTs;
  if (!absolute && !base_ns_) return {};
  return EventTime::at(Timestamp(std::chrono::microseconds(absolute ? us : us + *base_ns_ / 1000)));
}

PartReport TraceSummary::report_of(Gpu& gpu, bool broken_off) const {
  PartReport report{.tool = std::string(kTool), .kind = "trace"};
  auto add_name = [&report](std::string_view name, std::string text) {
    if (!text.empty()) report.names.push_back({std::string(name), std::move(text)});
  };
  auto add = [&report](std::string name, std::string text) {
    report.values.push_back({std::move(name), std::move(text)});
  };
  if (rank_) add_name("rank", std::to_string(*rank_));
  if (gpu.number >= 0) add_name("device", std::to_string(gpu.number));
  add_name("gpu", gpu_name_);
  if (world_size_) add_name("world size", std::to_string(*world_size_));

  const Intervals computing = gpu.lanes[compute].pieces();
  const Intervals collectives = gpu.lanes[collective].pieces();
  const Intervals communicating = united(collectives, gpu.lanes[exchange].pieces());
  const Intervals copying = gpu.lanes[copy].pieces();
  const Intervals kernels = united(computing, communicating);
  const Intervals busy = united(kernels, copying);
  const Intervals own = united(computing, copying);
  const std::int64_t span = gpu.span.end - gpu.span.begin;
  const std::int64_t communication = length_of(communicating);
  const std::int64_t overlap = overlap_of(computing, communicating);

  add("span us", microseconds(span));
  add("compute us", microseconds(length_of(computing)));
  add("communication us", microseconds(communication));
  add("exposed communication us", microseconds(communication - overlap));
  add("exposed copy us", microseconds(length_of(busy) - length_of(kernels)));
  add("idle us", microseconds(span - length_of(busy)));
  add("own us", microseconds(length_of(own)));
  add("collective us", microseconds(length_of(collectives)));
  add("kernels", std::to_string(gpu.kernels));
  add("communication kernels", std::to_string(gpu.communication_kernels));
  add("copies", std::to_string(gpu.copies));
  add("events", std::to_string(events_));

  std::int64_t closed = 0;
  for (const IntervalUnion& lane : gpu.lanes) closed += lane.closed_gaps();
  if (closed > 0) add("rounded up by us", microseconds(closed));
  if (broken_off) add("broken off", "yes");

  const std::map<std::int64_t, Interval>& steps = gpu.steps.empty() ? steps_on_cpu_ : gpu.steps;
  add("steps", std::to_string(steps.size()));
  std::size_t left = steps.size();
  for (const auto& [number, window] : steps) {
    if (left-- > kToldSteps) continue;
    const std::string step = fmt::format("step {} / ", number);
    add(step + "span us", microseconds(window.end - window.begin));
    add(step + "own us", microseconds(length_within(own, window)));
    add(step + "idle us", microseconds(window.end - window.begin - length_within(busy, window)));
    add(step + "collective us", microseconds(length_within(collectives, window)));
  }
  return report;
}

std::vector<DumpedFact> TraceSummary::facts(bool broken_off) {
  std::vector<DumpedFact> told;
  using Total = std::pair<std::string_view, KernelTotal>;
  std::vector<Total> longest(kernels_.begin(), kernels_.end());
  std::ranges::sort(longest, [](const Total& a, const Total& b) {
    return a.second.nanoseconds != b.second.nanoseconds
               ? a.second.nanoseconds > b.second.nanoseconds
               : a.first < b.first;
  });
  longest.resize(std::min(longest.size(), kToldKernels));
  for (Gpu& gpu : gpus_) {
    if (gpu.kernels + gpu.copies == 0) continue;
    PartReport report = report_of(gpu, broken_off);
    for (std::size_t i = 0; i < longest.size() && gpus_.size() == 1; ++i) {
      report.values.push_back({fmt::format("kernel {}", i + 1), std::string(longest[i].first)});
      report.values.push_back(
          {fmt::format("kernel {} us", i + 1), microseconds(longest[i].second.nanoseconds)});
      report.values.push_back(
          {fmt::format("kernel {} count", i + 1), std::to_string(longest[i].second.count)});
    }
    const double span =
        static_cast<double>(std::max<std::int64_t>(1, gpu.span.end - gpu.span.begin));
    const auto share = [&](std::string_view name) {
      const auto value = std::ranges::find(report.values, name, &NamedValue::name);
      double us = 0;
      std::from_chars(value->value.data(), value->value.data() + value->value.size(), us);
      return us * 1e5 / span;
    };
    std::string text = fmt::format(
        "trace{} of {:.3f} s: computing {:.1f} %, exposed communication {:.1f} %, "
        "copies {:.1f} %, idle {:.1f} %",
        rank_ ? fmt::format(" of rank {}", *rank_) : "", span / 1e9, share("compute us"),
        share("exposed communication us"), share("exposed copy us"), share("idle us"));
    const EventTime time = time_of(gpu.span.begin);
    told.push_back({.fact = std::move(report), .time = time, .text = std::move(text)});
  }
  if (!told.empty()) return told;
  PartReport nothing{.tool = std::string(kTool), .kind = "trace"};
  if (rank_) nothing.names.push_back({"rank", std::to_string(*rank_)});
  nothing.values = {{"events", std::to_string(events_)}, {"kernels", "0"}};
  if (broken_off) nothing.values.push_back({"broken off", "yes"});
  told.push_back({.fact = std::move(nothing), .time = {}, .text = "trace without GPU work"});
  return told;
}

}  // namespace faultline
