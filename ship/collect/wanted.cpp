#include "ship/collect/wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

namespace faultline {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostWanted = 16;
constexpr std::size_t kLongestId = 64;
constexpr std::size_t kLongestKind = 64;
constexpr std::size_t kLongestJob = 512;
constexpr std::size_t kLongestWhy = 1024;
constexpr std::size_t kMostRanks = 4096;
constexpr int kHighestRank = 10'000'000;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Takes a text; what is wrong with it is added to `fault`.
std::string text_of(const json::object& entry, const char* key, std::size_t longest, bool needed,
                    std::string& fault) {
  const json::value* found = entry.if_contains(key);
  if (found == nullptr && !needed) return {};
  const auto wrong = [&](const char* what) {
    if (fault.empty()) fault = fmt::format("{} {}", key, what);
    return std::string();
  };
  if (found == nullptr || !found->is_string()) return wrong("is missing");
  const std::string_view text = found->get_string();
  if (text.size() > longest) return wrong("is too long");
  if (needed && text.empty()) return wrong("is empty");
  if (std::ranges::any_of(text, is_control)) return wrong("has control characters");
  return std::string(text);
}

CollectRequest wanted_from(const json::object& entry) {
  CollectRequest wanted;
  wanted.id = text_of(entry, "id", kLongestId, true, wanted.fault);
  const auto is_graphic = [](char c) { return c > ' ' && c < 0x7f; };
  if (!std::ranges::all_of(wanted.id, is_graphic)) {
    wanted.id.clear();
    wanted.fault = "id is not printable ASCII";
  }
  wanted.kind = text_of(entry, "kind", kLongestKind, true, wanted.fault);
  wanted.job = text_of(entry, "job", kLongestJob, true, wanted.fault);
  wanted.why = text_of(entry, "why", kLongestWhy, false, wanted.fault);
  const json::value* ranks = entry.if_contains("ranks");
  if (ranks == nullptr || ranks->is_null()) return wanted;
  const auto is_rank = [](const json::value& rank) {
    return rank.is_int64() && rank.get_int64() >= 0 && rank.get_int64() <= kHighestRank;
  };
  if (!ranks->is_array() || ranks->get_array().size() > kMostRanks ||
      !std::ranges::all_of(ranks->get_array(), is_rank)) {
    if (wanted.fault.empty()) wanted.fault = "ranks are no list of ranks";
    return wanted;
  }
  for (const json::value& rank : ranks->get_array())
    wanted.ranks.insert(static_cast<int>(rank.get_int64()));
  return wanted;
}

}  // namespace

WantedAnswer read_wanted(std::string_view body) {
  WantedAnswer answer;
  if (body.size() > kMostOfWantedAnswer) {
    answer.fault = "the answer is too long";
    return answer;
  }
  boost::system::error_code wrong;
  const json::value value = json::parse(body, wrong);
  const json::value* list =
      !wrong && value.is_object() ? value.get_object().if_contains("wanted") : nullptr;
  if (list == nullptr || !list->is_array()) {
    answer.fault = "the answer is not as expected";
    return answer;
  }
  for (const json::value& entry : list->get_array()) {
    if (answer.wanted.size() >= kMostWanted) {
      answer.fault = fmt::format("the answer asks for more than {} things", kMostWanted);
      break;
    }
    if (entry.is_object())
      answer.wanted.push_back(wanted_from(entry.get_object()));
    else
      answer.fault = "the answer is not as expected";
  }
  return answer;
}

std::string in_log(std::string_view text, std::size_t most_bytes) {
  std::string out(text.substr(0, most_bytes));
  std::ranges::replace_if(out, is_control, '?');
  return out;
}

}  // namespace faultline
