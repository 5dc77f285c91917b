#include "parsers/torch/fr_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr int kMostForeign = 16;
constexpr std::size_t kMostWordBytes = 200;
constexpr std::size_t kMostPeers = 64;  // ranks whose calls are reported
constexpr std::size_t kMostRanks = 65536;

// "Not all ranks joining collective, sequence number: 5", in older versions "... collective 5 at
// entry 4"; "Collective sequence number: 5 has errors".
bool read_title(std::string_view text, std::uint64_t& sequence) {
  static const Pattern kMissing(
      R"(^Not all ranks joining collective(?:[,:] sequence number:)? (\d+)\b)");
  static const Pattern kErrors(
      R"(^Collective(?: sequence number:)? (\d+)(?: at entry \d+)? has errors\b)");
  std::string_view digits;
  if (!kMissing.find(text, &digits) && !kErrors.find(text, &digits)) return false;
  const auto number = number_in<std::uint64_t>(digits);
  sequence = number.value_or(0);
  return number.has_value();
}

// "{0, 1}"; in older versions only how many: "2".
std::vector<int> ranks_expected(std::string_view text) {
  if (text.starts_with('{')) return rank_list(text);
  std::vector<int> ranks;
  const auto count = number_in<int>(text).value_or(0);
  for (int rank = 0; rank < std::min<int>(count, kMostRanks); ++rank) ranks.push_back(rank);
  return ranks;
}

struct Difference {
  int rank = -1;
  std::string expected;
  std::string found;
  bool of_operation = false;  // false: a difference of sizes or types
};

// "Culprit rank 2; Error type: COLLECTIVE_TYPE_MISMATCH, Expected collective type: 'all_reduce'
// does not match found collective type: 'broadcast'". Different states are ignored: the state of a
// call depends on when the rank was dumped.
std::optional<Difference> read_difference(std::string_view text) {
  static const Pattern kError(
      R"(^(\d{1,6}); Error type: (\w+), Expected (?:collective type|\w+ sizes|dtypes): '([^\n]*?)' does not match found [\w ]+: '([^\n]*?)')");
  std::string_view rank;
  std::string_view type;
  std::string_view expected;
  std::string_view found;
  if (!kError.find(text, &rank, &type, &expected, &found) || type == "COLLECTIVE_STATE_MISMATCH")
    return std::nullopt;
  return Difference{rank_in(rank).value_or(-1), std::string(expected), std::string(found),
                    type == "COLLECTIVE_TYPE_MISMATCH"};
}

// One block, as far as it has been read.
struct Block {
  std::uint64_t sequence = 0;
  KeptLine title;
  std::string operation;
  std::string missing;
  std::string expected;
  std::string errors;

  bool open() const { return !title.text.empty(); }
};

class FlightRecorderReport : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = trimmed(line.text);
    if (std::uint64_t sequence = 0; read_title(text, sequence)) {
      give(readings);
      block_.sequence = sequence;
      block_.title.keep(line);
      foreign_ = 0;
      return Line::part;
    }
    if (text.empty()) return Line::part;
    if (read_field(text)) {
      foreign_ = 0;
      return Line::part;
    }
    return ++foreign_ > kMostForeign ? Line::after : Line::foreign;
  }

  void finish(std::vector<DocumentReading>& readings) override { give(readings); }
  std::string_view dialect() const override { return "torch"; }

  std::size_t size() const override {
    return block_.title.text.size() + block_.operation.size() + block_.missing.size() +
           block_.expected.size() + block_.errors.size();
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(foreign_);
    saved.number(static_cast<std::int64_t>(block_.sequence));
    for (const std::string* text :
         {&block_.operation, &block_.missing, &block_.expected, &block_.errors})
      saved.text(*text);
    block_.title.save(saved);
  }

  void restore(SavedBytesReader& saved) override {
    foreign_ = saved.small_number();
    block_.sequence = static_cast<std::uint64_t>(saved.number());
    for (std::string* text : {&block_.operation, &block_.missing, &block_.expected, &block_.errors})
      *text = saved.text();
    block_.title.restore(saved);
  }

 private:
  bool read_field(std::string_view text) {
    static const Pattern kFrame(R"(^\S[^\n]* at \S[^\n]*:\d+$)");
    for (auto [label, into] : {std::pair{"collective: ", &block_.operation},
                               {"missing ranks: ", &block_.missing},
                               {"expected ranks: ", &block_.expected},
                               {"error msg: ", &block_.errors}})
      if (text.starts_with(label)) {
        *into = text.substr(std::string_view(label).size());
        return true;
      }
    for (const std::string_view label :
         {"internal record id: ", "group info: ", "input sizes: ", "output sizes: ", "world size: ",
          "collective state: ", "collective stack trace:", "total input numel: ",
          "total output numel: "})
      if (text.starts_with(label)) return true;
    return kFrame.find(text);
  }

  void give(std::vector<DocumentReading>& readings) {
    if (block_.open()) {
      if (!block_.missing.empty())
        give_missing(readings);
      else
        give_differences(readings);
    }
    block_ = {};
  }

  void give_one(Fact fact, std::vector<DocumentReading>& readings) const {
    readings.push_back({.reading = {.fact = std::move(fact)}, .line = block_.title});
  }

  std::string operation() const {
    const std::string_view whole = block_.operation;
    const std::size_t colon = whole.find(':');
    return std::string(whole.substr(colon == whole.npos ? 0 : colon + 1).substr(0, kMostWordBytes));
  }

  void give_missing(std::vector<DocumentReading>& readings) const {
    DesyncEntry entry{.ranks = rank_list(block_.missing),
                      .what = "not_entered",
                      .sequence = block_.sequence,
                      .operation = operation()};
    if (entry.ranks.empty()) return;
    DesyncEntry others = entry;
    others.what = "entered";
    others.ranks = ranks_expected(block_.expected);
    std::vector<int> missing = entry.ranks;
    std::ranges::sort(missing);
    std::erase_if(others.ranks,
                  [&](int rank) { return std::ranges::binary_search(missing, rank); });
    give_one(std::move(entry), readings);
    if (!others.ranks.empty()) give_one(std::move(others), readings);
  }

  void give_differences(std::vector<DocumentReading>& readings) const {
    constexpr std::string_view kCulprit = "Culprit rank ";
    constexpr std::size_t kMostBytes = 4096;  // of one: shapes of a few tensors
    const std::string_view errors = block_.errors;
    std::map<int, Difference> by_rank;
    for (std::size_t at = errors.find(kCulprit); at != errors.npos && by_rank.size() < kMostPeers;
         at = errors.find(kCulprit, at + 1))
      if (auto one = read_difference(errors.substr(at + kCulprit.size(), kMostBytes));
          one && one->rank >= 0)
        by_rank.try_emplace(one->rank, std::move(*one));
    if (by_rank.empty()) return;
    for (const auto& [rank, one] : by_rank) give_one(called(rank, one, one.found), readings);
    std::size_t told = 0;
    for (const int rank : ranks_expected(block_.expected))
      if (!by_rank.contains(rank) && told++ < kMostPeers)
        give_one(called(rank, by_rank.begin()->second, by_rank.begin()->second.expected), readings);
  }

  CalledCollective called(int rank, const Difference& one, const std::string& what) const {
    CalledCollective call{.rank = rank, .sequence = block_.sequence, .operation = operation()};
    (one.of_operation ? call.operation : call.shape) = what.substr(0, kMostWordBytes);
    return call;
  }

  int foreign_ = 0;
  Block block_;
};

}  // namespace

bool begins_fr_report(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("Not all ranks joining collective") && !text.starts_with("Collective "))
    return false;
  std::uint64_t sequence = 0;
  return read_title(text, sequence);
}

std::unique_ptr<Document> make_fr_report() { return std::make_unique<FlightRecorderReport>(); }

}  // namespace faultline
