// Traces of torch.profiler: how the time of a GPU divides, compared with a count of every
// nanosecond; and unexpected forms of their events.
#include "parsers/performance/chrome_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace faultline {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kGemm = "void cutlass::Kernel2<gemm>(Params)";
constexpr std::string_view kAllReduce =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)";

std::string event(std::string_view category, std::string_view name, int stream, double begin,
                  double duration, int device = 0) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, )"
      R"("args": {{"device": {}, "stream": {}, "grid": [1, 2, 3], "note": "a \"brace }} and \\"}}}})",
      category, name, device, stream, begin, duration, device, stream);
}

std::string trace_of(const std::vector<std::string>& events,
                     std::string_view head = R"("schemaVersion": 1, )") {
  return fmt::format("{{\n{}\"traceEvents\": [\n{}\n], \"traceName\": \"t.json\"}}\n", head,
                     fmt::join(events, ",\n"));
}

std::vector<PartReport> read(const std::string& text, std::size_t piece = 1 << 20) {
  ChromeTrace trace;
  for (std::size_t at = 0; at < text.size() && !trace.complete(); at += piece)
    trace.feed(text.substr(at, piece));
  std::vector<PartReport> reports;
  for (DumpedFact& told : trace.facts()) reports.push_back(std::get<PartReport>(told.fact));
  return reports;
}

std::string value(const PartReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.values, name, &NamedValue::name);
  return found == report.values.end() ? "" : found->value;
}
std::string name(const PartReport& report, std::string_view which) {
  const auto found = std::ranges::find(report.names, which, &NamedValue::name);
  return found == report.names.end() ? "" : found->value;
}
double number(const PartReport& report, std::string_view which) {
  return std::stod(value(report, which));
}

TEST(ChromeTrace, DividesTimeIntoSharesThatDoNotOverlap) {
  const auto reports = read(trace_of({
      event("kernel", kGemm, 7, 12, 8),
      event("kernel", kAllReduce, 22, 8, 8),
      event("gpu_memcpy", "Memcpy HtoD", 20, 20, 1),
      event("kernel", kGemm, 7, 0, 10),
      event("gpu_user_annotation", "ProfilerStep#12", 7, 0, 25),
      event("gpu_user_annotation", "optimizer", 7, 0, 25),
      event("cpu_op", "aten::mm", 21734, 0, 25),
  }));
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(value(reports[0], "span us"), "21.000");
  EXPECT_EQ(value(reports[0], "compute us"), "18.000");
  EXPECT_EQ(value(reports[0], "communication us"), "8.000");
  EXPECT_EQ(value(reports[0], "exposed communication us"), "2.000");
  EXPECT_EQ(value(reports[0], "exposed copy us"), "1.000");
  EXPECT_EQ(value(reports[0], "idle us"), "0.000");
  EXPECT_EQ(value(reports[0], "steps"), "1");
  EXPECT_EQ(value(reports[0], "step 12 / span us"), "25.000");
  EXPECT_EQ(value(reports[0], "step 12 / own us"), "19.000");
  EXPECT_EQ(value(reports[0], "step 12 / idle us"), "4.000");
  EXPECT_EQ(value(reports[0], "step 12 / collective us"), "8.000");
}

// Computes the same by counting: what every nanosecond was used for.
struct Counted {
  explicit Counted(std::size_t nanoseconds) : use(nanoseconds, 0) {}
  void add(char bit, std::size_t begin, std::size_t length) {
    for (std::size_t i = begin; i < begin + length; ++i) use[i] = static_cast<char>(use[i] | bit);
  }
  template <class Predicate>
  double us(Predicate&& predicate) const {
    return static_cast<double>(std::ranges::count_if(use, predicate)) / 1000;
  }
  std::vector<char> use;
};

TEST(ChromeTrace, AgreesWithACountOfEveryNanosecond) {
  constexpr char kCompute = 1;
  constexpr char kCommunication = 2;
  constexpr char kCopy = 4;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    constexpr std::size_t kSpan = 200'000;
    Counted counted(kSpan);
    std::vector<std::string> events;
    std::size_t first = kSpan;
    std::size_t last = 0;
    for (int i = 0; i < 60 + 40 * round; ++i) {
      const std::size_t begin = random() % (kSpan - 3000);
      const std::size_t length = random() % (i % 10 == 0 ? 3000 : 300);
      const int kind = static_cast<int>(random() % 4);
      const char bit = kind == 0 ? kCommunication : kind == 1 ? kCopy : kCompute;
      const auto from = static_cast<double>(begin) / 1000;
      const auto for_long = static_cast<double>(length) / 1000;
      events.push_back(
          kind == 1 ? event("gpu_memset", "Memset", 20, from, for_long)
                    : event("kernel", kind == 0 ? kAllReduce : kGemm, 7 + i % 3, from, for_long));
      counted.add(bit, begin, length);
      first = std::min(first, begin);
      last = std::max(last, begin + length);
    }
    const auto reports = read(trace_of(events), 1 + random() % 5000);
    ASSERT_THAT(reports, SizeIs(1));
    const PartReport& report = reports[0];
    const double span = static_cast<double>(last - first) / 1000;
    EXPECT_DOUBLE_EQ(number(report, "span us"), span);
    EXPECT_DOUBLE_EQ(number(report, "compute us"), counted.us([](char u) { return u & kCompute; }));
    EXPECT_DOUBLE_EQ(number(report, "communication us"),
                     counted.us([](char u) { return u & kCommunication; }));
    EXPECT_DOUBLE_EQ(number(report, "exposed communication us"), counted.us([](char u) {
      return (u & kCommunication) != 0 && (u & kCompute) == 0;
    }));
    EXPECT_DOUBLE_EQ(number(report, "exposed copy us"),
                     counted.us([](char u) { return u == kCopy; }));
    EXPECT_NEAR(number(report, "idle us"), span - counted.us([](char u) { return u != 0; }), 1e-6);
    EXPECT_NEAR(number(report, "compute us") + number(report, "exposed communication us") +
                    number(report, "exposed copy us") + number(report, "idle us"),
                span, 1e-6);
  }
}

TEST(ChromeTrace, TellsTheSameHoweverItIsCut) {
  const std::string text = trace_of(
      {event("kernel", kGemm, 7, 0, 10), event("kernel", kAllReduce, 22, 5, 12),
       event("gpu_user_annotation", "ProfilerStep#3", 7, 0, 20), event("gpu_memcpy", "m", 1, 9, 9)},
      R"("schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},)");
  const auto whole = read(text);
  for (std::size_t piece = 1; piece < 400; ++piece) ASSERT_EQ(read(text, piece), whole) << piece;
}

TEST(ChromeTrace, TellsWhoseItIsAndWhatTookLongest) {
  const auto reports =
      read(trace_of({event("kernel", kGemm, 7, 0, 10, 3), event("kernel", "relu", 7, 10, 30, 3),
                     event("kernel", kGemm, 7, 40, 25, 3)},
                    R"("deviceProperties": [{"id": 3, "name": "NVIDIA H100 80GB HBM3"}],)"
                    R"("distributedInfo": {"rank": 3, "world_size": 8},)"));
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(name(reports[0], "rank"), "3");
  EXPECT_EQ(name(reports[0], "world size"), "8");
  EXPECT_EQ(name(reports[0], "device"), "3");
  EXPECT_EQ(name(reports[0], "gpu"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(value(reports[0], "kernel 1"), kGemm);
  EXPECT_EQ(value(reports[0], "kernel 1 us"), "35.000");
  EXPECT_EQ(value(reports[0], "kernel 1 count"), "2");
  EXPECT_EQ(value(reports[0], "kernel 2"), "relu");
}

TEST(ChromeTrace, KernelsOfEveryGenerationAreKnownForCommunication) {
  for (const std::string_view kernel :
       {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclSymkDevKernel_AllReduce",
        "ncclDevKernel_Generic(ncclDevKernelArgsStorage)", "nvshmem_barrier_kernel"})
    EXPECT_EQ(value(read(trace_of({event("kernel", kernel, 7, 0, 10)}))[0], "collective us"),
              "10.000")
        << kernel;
  const auto sends = read(trace_of({event("kernel", "ncclDevKernel_SendRecv(args)", 7, 0, 10)}));
  EXPECT_EQ(value(sends[0], "communication us"), "10.000");
  EXPECT_EQ(value(sends[0], "collective us"), "0.000");
}

TEST(ChromeTrace, TimesSince1970KeepTheirDigits) {
  const std::string text =
      R"({"traceEvents": [{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1772675200123456.789,"dur":0.001},)"
      R"({"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1772675200123457.789,"dur":1}]})";
  ChromeTrace trace;
  trace.feed(text);
  const auto facts = trace.facts();
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(value(std::get<PartReport>(facts[0].fact), "span us"), "2.000");
  EXPECT_EQ(to_rfc3339(facts[0].time.wall().value()), "2026-03-05T01:46:40.123456Z");
}

TEST(ChromeTrace, EventsThatMakeNoSenseAreLeftOut) {
  const auto reports = read(trace_of({
      event("kernel", kGemm, 7, 5, 10),
      R"({"ph":"X","cat":"kernel","name":"backwards","pid":0,"tid":7,"ts":1,"dur":-4})",
      R"({"ph":"X","cat":"kernel","name":"no time","pid":0,"tid":7})",
      R"({"ph":"X","cat":"kernel","name":"huge","pid":0,"tid":7,"ts":1e300,"dur":1})",
      R"({"ph":"M","cat":"kernel","name":"process_labels","pid":0,"args":{"labels":"GPU 3"}})",
      R"({"name":"keys in another order","dur":3.5,"ts":20.5,"pid":"0","cat":"kernel","ph":"X"})",
      R"({"ph":"X","cat":"Trace","ts":0,"dur":99999,"pid":"Spans","tid":"PyTorch Profiler"})",
      "{}",
  }));
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(value(reports[0], "kernels"), "2");
  EXPECT_EQ(value(reports[0], "span us"), "19.000");
}

TEST(ChromeTrace, OneThatBreaksOffTellsWhatItHas) {
  const std::string text =
      trace_of({event("kernel", kGemm, 7, 0, 10), event("kernel", kGemm, 7, 20, 10)});
  const auto reports = read(text.substr(0, text.rfind("\"dur\"")));
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(value(reports[0], "kernels"), "1");
  EXPECT_EQ(value(reports[0], "broken off"), "yes");
}

TEST(ChromeTrace, WithoutAGpuSaysSo) {
  const auto reports = read(trace_of({event("cpu_op", "aten::mm", 1, 0, 10)}));
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(value(reports[0], "kernels"), "0");
}

TEST(ChromeTrace, HostileOnesStaySmall) {
  // An event without an end, more GPUs than a host has, a member that is never closed.
  ChromeTrace endless;
  endless.feed(R"({"traceEvents": [{"ph": "X", "args": {"x": ")");
  for (int i = 0; i < 64; ++i) endless.feed(std::string(1 << 20, 'x'));
  EXPECT_THAT(endless.facts(), SizeIs(1));

  std::vector<std::string> events;
  for (int device = 0; device < 500; ++device)
    events.push_back(event("kernel", kGemm, 7, 0, 10, device));
  EXPECT_LE(read(trace_of(events)).size(), 8u);

  std::string deep = R"({"traceEvents": [{"args": )" + std::string(1 << 20, '[');
  EXPECT_THAT(read(deep), SizeIs(1));
}

TEST(IntervalUnion, ClosesTheNarrowestGapsWhereThereAreTooMany) {
  IntervalUnion lane;
  lane.set_most(1000);
  std::int64_t length = 0;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    const std::int64_t begin = i * 100 + (i % 10 == 0 ? 40 : 0);
    lane.add(begin, i * 100 + 90);
    length += i * 100 + 90 - begin;
  }
  EXPECT_LE(lane.pieces().size(), 2100u);
  EXPECT_EQ(length_of(lane.pieces()), length + lane.closed_gaps());
}

TEST(IntervalUnion, TakesIntervalsInAnyOrder) {
  std::mt19937 random(11);
  std::vector<Interval> all;
  for (std::int64_t i = 0; i < 20'000; ++i) all.push_back({i * 10, i * 10 + 7 + (i % 4)});
  IntervalUnion in_order;
  for (const Interval& each : all) in_order.add(each.begin, each.end);
  std::ranges::shuffle(all, random);
  IntervalUnion shuffled;
  for (const Interval& each : all) shuffled.add(each.begin, each.end);
  EXPECT_EQ(in_order.pieces(), shuffled.pieces());
}

TEST(TraceForm, IsToldFromTheBeginning) {
  struct Case {
    std::string_view text;
    TraceForm form;
  };
  for (const Case& each : {
           Case{"", TraceForm::unsure},
           Case{"\n {", TraceForm::unsure},
           Case{"{\"sche", TraceForm::unsure},
           Case{"{\"schedule\": 1", TraceForm::none},
           Case{"{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}", TraceForm::unsure},
           Case{"{\"schemaVersion\": 1, \"my own\": {\"a\": \"}\"}, \"traceEvents\": [",
                TraceForm::trace},
           Case{"{ \"traceEvents\" :[", TraceForm::trace},
           Case{"{\"traceEvents\": 5", TraceForm::none},
           Case{"{\"schemaVersion\": 2, \"mediaType\": \"x\"}", TraceForm::none},
           Case{"[{\"ph\": \"X\"", TraceForm::none},
           Case{"{\"version\": \"2.4\", \"entries\"", TraceForm::none},
           Case{"gpu-7:1:2 [0] NCCL INFO", TraceForm::none},
       }) {
    EXPECT_EQ(trace_form(each.text, false), each.form) << each.text;
    if (each.form == TraceForm::unsure) {
      EXPECT_EQ(trace_form(each.text, true), TraceForm::none);
    }
  }
}

}  // namespace
}  // namespace faultline
