#include "parsers/launcher/script_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/facts/part.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::size_t kMostBytes = 200;

// Takes a number off the front.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::string_view> take_count(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, length);
  if (digits.size() > 9 || !is_count(digits)) return std::nullopt;
  text.remove_prefix(length);
  return digits;
}

// "3, 7]" and any text. Nothing: it is not a list, or its end is missing.
std::optional<std::vector<std::string_view>> ranks_in(std::string_view text) {
  std::vector<std::string_view> ranks;
  while (true) {
    text = trimmed(text);
    const auto rank = take_count(text);
    if (!rank) return std::nullopt;
    ranks.push_back(*rank);
    text = trimmed(text);
    if (take_front(text, "]")) return ranks;
    if (!take_front(text, ",")) return std::nullopt;
  }
}

std::string joined(const std::vector<std::string_view>& ranks) {
  std::string text;
  for (const std::string_view rank : ranks)
    if (text.size() + rank.size() < kMostBytes)
      text += (text.empty() ? "" : ",") + std::string(rank);
  return text;
}

void give(PartReport report, std::vector<Reading>& readings,
          std::optional<Timestamp> time = std::nullopt) {
  readings.push_back({.fact = std::move(report), .host = {}, .time = time});
}

std::string as_printed(double value) { return fmt::format("{}", value); }

}  // namespace

bool parse_barrier_time(std::string_view text, std::vector<Reading>& readings) {
  std::string_view rest = trimmed(text);
  if (!take_front(rest, "rank ")) return false;
  const auto rank = take_count(rest);
  if (!rank || !take_front(rest, ": avg barrier time ")) return false;
  const auto ms = take_number(rest);
  if (!ms || *ms < 0 || !take_front(rest, "ms")) return false;
  PartReport report{.tool = "straggler-report",
                    .kind = "rank",
                    .names = {{"rank", std::string(*rank)}},
                    .values = {{"barrier ms", as_printed(*ms)}}};
  rest = trimmed(rest);
  if (take_front(rest, "("))
    if (const auto ratio = take_number(rest); ratio && take_front(rest, "x median)"))
      report.values.push_back({"of median", as_printed(*ratio)});
  if (trimmed(rest) == "[SLOW]") report.values.push_back({"called slow", "yes"});
  give(std::move(report), readings);
  return true;
}

bool parse_straggler_ranks(std::string_view text, std::vector<Reading>& readings) {
  std::string_view before;
  if (!take_until(text, "traggler ranks detected: [", before)) return false;
  const auto ranks = ranks_in(text);
  if (!ranks) return false;
  give({.tool = "straggler-report",
        .kind = "job",
        .names = {},
        .values = {{"ranks", joined(*ranks)}}},
       readings);
  return true;
}

bool parse_slow_gpus(std::string_view text, std::vector<Reading>& readings) {
  std::string_view before;
  if (!take_until(text, "STRAGGLER DETECTION WARNING: Some GPUs ", before) ||
      !take_until(text, "Affected ranks: ", before))
    return false;
  std::vector<std::string_view> ranks;
  if (take_front(text, "[")) {
    ranks = ranks_in(text).value_or(ranks);
  } else if (const std::size_t end = text.find('}'); end != std::string_view::npos) {
    text = text.substr(0, end);
    while (take_until(text, "StragglerId(rank=", before))
      if (const auto rank = take_count(text)) ranks.push_back(*rank);
  }
  if (ranks.empty()) return false;
  give({.tool = "straggler-report",
        .kind = "gpus",
        .names = {},
        .values = {{"ranks", joined(ranks)}}},
       readings);
  return true;
}

bool parse_least_and_most(std::string_view text, std::vector<Reading>& readings) {
  constexpr std::size_t kMostParts = 24;
  const std::size_t begin = text.find("| MnRtt/Rnk: ");
  if (begin == std::string_view::npos) return false;
  std::string_view stamp = trimmed(text.substr(0, begin));
  text.remove_prefix(begin + 1);
  PartReport report{.tool = "straggler-report", .kind = "extremes", .names = {}, .values = {}};
  for (std::string_view piece : pieces_of(text, "|", kMostParts)) {
    std::string_view name;
    std::string_view unit;
    if (!take_until(piece, "/Rnk: ", name) || name.size() > kMostBytes) return false;
    const auto value = take_number(piece);
    if (!value || !take_until(piece, "/", unit)) return false;
    const auto rank = take_count(piece);
    if (!rank || !piece.empty()) return false;
    report.values.push_back({std::string(name), as_printed(*value)});
    report.values.push_back({std::string(name) + " rank", std::string(*rank)});
  }
  if (stamp.starts_with('[')) stamp = stamp.substr(1, stamp.find(']') - 1);
  give(std::move(report), readings, parse_rfc3339(stamp));
  return true;
}

bool parse_gpu_sample(std::string_view text, std::vector<Reading>& readings) {
  std::string_view before;
  std::string_view rest = text;
  if (!take_until(rest, "rank=", before)) return false;
  const auto rank = take_count(rest);
  if (!rank || !take_front(rest, " gpu_util=")) return false;
  // As nvidia-smi prints them: "0 %, 71234", "[N/A], 71234", "ERR!".
  std::string_view use;
  if (!take_until(rest, ",", use)) return false;
  use = trimmed(use);
  if (use.ends_with('%')) use = trimmed(use.substr(0, use.size() - 1));
  std::string_view memory = trimmed(rest);
  const std::string_view unit = " MiB";
  if (memory.ends_with(unit)) memory.remove_suffix(unit.size());
  if (use.empty() || memory.empty() || memory.find(' ') != std::string_view::npos) return false;
  give({.tool = "gpu-watchdog",
        .kind = "rank",
        .names = {{"rank", std::string(*rank)}},
        .values = {{"gpu util", std::string(use.substr(0, kMostBytes))},
                   {"memory used MiB", std::string(memory.substr(0, kMostBytes))}}},
       readings, parse_rfc3339(trimmed(before)));
  return true;
}

bool parse_bandwidth_line(std::string_view text, std::vector<Reading>& readings) {
  const auto words = words_of(text, 8);
  if (words.size() != 6 || words[3] != "GB/s," || words[5] != "avg") return false;
  std::string_view size = words[1];
  const auto amount = take_number(size);
  double bytes = amount.value_or(0);
  if (size == "KB:")
    bytes *= 1e3;
  else if (size == "MB:")
    bytes *= 1e6;
  else if (size == "GB:")
    bytes *= 1e9;
  else
    return false;
  std::string_view bandwidth_word = words[2];
  std::string_view time_word = words[4];
  const auto bandwidth = take_number(bandwidth_word);
  const auto ms = take_number(time_word);
  if (!bandwidth || !ms || !bandwidth_word.empty() || time_word != "ms" || *ms <= 0 || bytes <= 0)
    return false;
  // The bandwidth must be size / time, or up to twice that if it is bus bandwidth. If it is not, a
  // digit was lost.
  constexpr double kLeast = 0.9;
  constexpr double kMost = 2.2;
  const double ratio = *bandwidth / (bytes / (*ms * 1e6));
  if (ratio < kLeast || ratio > kMost) return true;
  give({.tool = "bandwidth-line",
        .kind = "bandwidth_test",
        .names = {{"collective", std::string(words[0].substr(0, kMostBytes))},
                  {"size bytes", fmt::format("{:.0f}", bytes)}},
        .values = {{"bandwidth", as_printed(*bandwidth)}, {"avg ms", as_printed(*ms)}}},
       readings);
  return true;
}

}  // namespace faultline
