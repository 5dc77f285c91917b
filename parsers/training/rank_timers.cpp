#include "parsers/training/rank_timers.h"

#include <optional>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kHeading = "times across ranks (ms):";

struct RankTime {
  std::string_view rank;
  std::string_view milliseconds;
};

// "rank  2: 812.10"
std::optional<RankTime> rank_time_of(std::string_view text) {
  if (!take_off(text, "rank ")) return std::nullopt;
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const RankTime time{trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1))};
  if (!is_decimal(time.rank) || !tool_text::real(time.milliseconds)) return std::nullopt;
  return time;
}

// "forward-compute:"
std::string_view timer_of(std::string_view text) {
  if (!text.ends_with(':') || text.find_first_of(" \t") != text.npos) return {};
  text.remove_suffix(1);
  return text;
}

class RankTimers : public PartDocument {
 public:
  RankTimers() : PartDocument("megatron-timers") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (text == kHeading) {
      give_all();
      words_.assign(1, {});
      return Line::part;
    }
    if (const auto time = rank_time_of(text)) {
      if (words_.empty() || words_.front().empty()) return Line::after;
      if (cut()) return Line::part;  // 81 may be a cut 812
      OpenPart* rank = find("rank timers", "rank", time->rank);
      if (rank == nullptr) {
        rank = &open("rank timers");
        rank->name("rank", time->rank);
      }
      rank->value(words_.front(), time->milliseconds);
      return Line::part;
    }
    const std::string_view timer = timer_of(text);
    if (timer.empty()) return Line::after;
    words_.assign(1, std::string(timer));
    return Line::part;
  }
};

}  // namespace

bool begins_rank_timers(std::string_view text) { return trimmed(text) == kHeading; }

std::unique_ptr<Document> make_rank_timers() { return std::make_unique<RankTimers>(); }

}  // namespace faultline
