#include "parsers/torch/torch_reports.h"

#include <algorithm>
#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"
#include "parsers/torch/torch_watchdog.h"

namespace faultline {

namespace {

constexpr std::size_t kMostNames = 64;
constexpr std::string_view kQuotes = "\"'[] ";
constexpr std::size_t kMostNameBytes = 256;
constexpr std::size_t kMostShapeBytes = 256;
constexpr std::size_t kMostCalls = 64;        // in one line
constexpr std::size_t kMostCallBytes = 4096;  // that are searched for the fields of one call

std::string shortened(std::string_view text) {
  return std::string(tool_text::trimmed(text).substr(0, kMostShapeBytes));
}

// SequenceNumber=28, OpType=ALLREDUCE, TensorShape=[10, 20], TensorDtypes=Float, ...
void read_fingerprint(std::string_view text, CalledCollective& called) {
  static const Pattern kSequence(R"(SequenceNumber=(\d+))");
  static const Pattern kOperation(R"(OpType=(\w+))");
  static const Pattern kShape(R"(TensorShape=\[([^\]]*)\])");
  static const Pattern kTypes(R"(TensorDtypes=(.*?)(?:, TensorDeviceTypes=|\)|$))");
  static const Pattern kDevices(R"(TensorDeviceTypes=(.*)\)$)");
  std::string_view value;
  if (kSequence.find(text, &value)) called.sequence = number_in<std::uint64_t>(value);
  if (kOperation.find(text, &value)) called.operation = shortened(value);
  if (kShape.find(text, &value)) called.shape = shortened(value);
  if (kTypes.find(text, &value)) called.types = shortened(value);
  if (kDevices.find(text, &value)) called.devices = shortened(value);
}

std::vector<std::string> names_in(std::string_view text, std::string_view separator) {
  std::vector<std::string> names;
  const auto pieces = separator == " " ? tool_text::words_of(text, kMostNames)
                                       : tool_text::pieces_of(text, separator, kMostNames);
  for (std::string_view piece : pieces) {
    while (!piece.empty() && kQuotes.find(piece.front()) != std::string_view::npos)
      piece.remove_prefix(1);
    while (!piece.empty() && kQuotes.find(piece.back()) != std::string_view::npos)
      piece.remove_suffix(1);
    if (!piece.empty()) names.emplace_back(piece.substr(0, kMostNameBytes));
  }
  return names;
}

}  // namespace

bool parse_torch_desync(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kTimedOut(R"(- \[([\d, ]+)\] Timeout at collective: (\w+), #(\d+))");
  static const Pattern kLagging(
      R"(ranks \[([\d, ]+)\] are the lagging ranks that caused this timeout)");
  static const Pattern kNotFinished(R"(\[([\d, ]+)\] joined but didn't finish collective #(\d+))");
  static const Pattern kNotJoined(
      R"(\[([\d, ]+)\] finished collective #\d+, but didn't join collective #(\d+))");
  static const Pattern kState(R"(^\s*\[([\d, ]+)\] (started|finished) (\w+)\s*$)");
  std::string_view ranks;
  std::string_view operation;
  std::string_view number;
  std::string_view what;
  DesyncEntry entry;
  if (kTimedOut.find(text, &ranks, &operation, &number))
    entry.what = "timed_out";
  else if (kLagging.find(text, &ranks))
    entry.what = "never_joined";
  else if (kNotFinished.find(text, &ranks, &number))
    entry.what = "not_finished";
  else if (kNotJoined.find(text, &ranks, &number))
    entry.what = "not_joined";
  else if (kState.find(text, &ranks, &what, &operation))
    entry.what = what;
  else
    return text.find("To our best knowledge, the lagging/dead/mismatched ranks") !=
           std::string_view::npos;
  entry.ranks = rank_list(ranks);
  entry.sequence = number_in<std::uint64_t>(number);
  entry.operation = operation;
  readings.push_back({.fact = std::move(entry)});
  return true;
}

bool parse_torch_barrier(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kFailed(
      R"((Ranks?) ([\d, ]+?) failed to pass monitoredBarrier in (\d+) ms)");
  std::string_view word;
  std::string_view ranks;
  std::string_view limit;
  if (!kFailed.find(text, &word, &ranks, &limit)) return false;
  readings.push_back(
      {.fact = BarrierMissed{.ranks = rank_list(ranks),
                             .timeout_ms = number_in<std::int64_t>(limit).value_or(0),
                             .all_named = word == "Ranks"}});
  return true;
}

// "Rank 0 is running collective: X, but Rank 1 is running collective: Y.", or a line for each.
bool parse_torch_called(std::string_view text, std::vector<Reading>& readings) {
  constexpr std::string_view kRuns = " is running collective: ";
  constexpr std::string_view kBut = ", but Rank ";
  constexpr std::string_view kRank = "Rank ";
  bool found = false;
  std::size_t calls = 0;
  std::size_t last = 0;  // where the text of the call before begins
  for (std::size_t at = text.find(kRuns); at != std::string_view::npos && calls < kMostCalls;
       ++calls) {
    const std::size_t begin = at + kRuns.size();
    const std::size_t next = text.find(kRuns, begin);
    const std::string_view before = text.substr(last, at - last);
    const std::size_t word = before.rfind(kRank);
    // No further than the next call, or a line of many calls is searched once for each of them.
    std::string_view what = text.substr(begin, std::min(next - begin, kMostCallBytes));
    if (next != std::string_view::npos)
      what = what.substr(0, std::min(what.find(kBut), what.rfind(kRank)));
    what = what.substr(0, what.find("Collectives differ in"));
    while (what.ends_with('.') || what.ends_with(' ') || what.ends_with('\r'))
      what.remove_suffix(1);
    CalledCollective called;
    if (word != std::string_view::npos)
      called.rank = rank_in(before.substr(word + kRank.size())).value_or(-1);
    // In a line with two ranks the first is the rank that prints it. If each rank has a line of its
    // own, the printing rank is not known.
    called.own = next != std::string_view::npos;
    read_fingerprint(what, called);
    if (called.rank >= 0) {
      readings.push_back({.fact = std::move(called)});
      found = true;
    }
    last = begin;
    at = next;
  }
  return found;
}

bool parse_torch_unused(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kDidNot(
      R"(Parameter(?:s| indices) which did not receive grad for rank (\d+): ?(.*))");
  static const Pattern kOne(R"(\[Rank (\d+)\] Parameter: (\S+) did not get gradient)");
  std::string_view rank;
  std::string_view names;
  if (kDidNot.find(text, &rank, &names)) {
    const bool numbers = text.find("Parameter indices") != std::string_view::npos;
    readings.push_back({.fact = UnusedParameters{.rank = rank_in(rank).value_or(-1),
                                                 .names = names_in(names, numbers ? " " : ",")}});
    return true;
  }
  if (!kOne.find(text, &rank, &names)) return false;
  readings.push_back({.fact = UnusedParameters{.rank = rank_in(rank).value_or(-1),
                                               .names = {std::string(names)}}});
  return true;
}

void parse_torch_raised(std::string_view message, std::vector<Reading>& readings) {
  if (!parse_torch_called(message, readings) && !parse_torch_barrier(message, readings))
    parse_torch_timeout(message, readings);
}

bool parse_cpp_exception(std::string_view text, std::vector<Reading>& readings) {
  constexpr std::size_t kMostBytes = 1024;
  text = tool_text::trimmed(text);
  if (!tool_text::take_front(text, "what():")) return false;
  text = tool_text::trimmed(text);
  if (text.empty()) return false;
  readings.push_back({.fact = PythonException{.type = std::string(PythonException::kOfCpp),
                                              .message = std::string(text.substr(0, kMostBytes))}});
  return true;
}

}  // namespace faultline
