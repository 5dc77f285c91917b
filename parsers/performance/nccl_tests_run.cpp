#include "parsers/performance/nccl_tests_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace faultline {
namespace {

constexpr std::string_view kTool = "nccl-tests";
constexpr std::size_t kMostHosts = 4096;
constexpr std::size_t kHostsBytes = 240;  // of the list of hosts

std::optional<std::uint64_t> number_in_front(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

void save_real(SavedBytesWriter& saved, double value) { saved.text(fmt::format("{}", value)); }

double restored_real(SavedBytesReader& saved) {
  const std::string_view text = saved.text();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint64_t restored_size(SavedBytesReader& saved) {
  return static_cast<std::uint64_t>(saved.number());
}

}  // namespace

void NcclTestsRun::save(SavedBytesWriter& saved) const {
  saved.text(spoken_host);
  saved.number(spoken_rank);
  saved.text(program);
  saved.number(ranks);
  saved.number(std::ssize(hosts));
  for (const std::string& host : hosts) saved.text(host);
  saved.text(gpu);
  saved.number(other_gpus ? 1 : 0);
  layout.save(saved);
  saved.number(rows);
  saved.number(static_cast<std::int64_t>(largest.size));
  saved.text(largest.redop);
  for (std::size_t group = 0; group < 2; ++group) {
    save_real(saved, largest.algbw[group]);
    save_real(saved, largest.busbw[group]);
  }
  save_real(saved, smallest);
  save_real(saved, peak);
  saved.number(static_cast<std::int64_t>(peak_size));
  save_real(saved, dip.busbw);
  saved.number(static_cast<std::int64_t>(dip.size));
  save_real(saved, dip.from);
  saved.number(static_cast<std::int64_t>(dip.from_size));
  saved.number(wrong_rows);
  save_real(saved, wrong_values);
  saved.number(static_cast<std::int64_t>(first_wrong));
  saved.number(checked ? 1 : 0);
  saved.number(static_cast<std::int64_t>(stopped_at));
  saved.text(out_of_bounds);
  saved.text(average);
  largest_line.save(saved);
  wrong_line.save(saved);
  device_line.save(saved);
}

void NcclTestsRun::restore(SavedBytesReader& saved) {
  spoken_host = saved.text();
  spoken_rank = saved.small_number();
  program = saved.text();
  ranks = saved.number();
  const std::int64_t count = saved.number();
  for (std::int64_t i = 0; i < count && saved.ok() && hosts.size() < kMostHosts; ++i)
    known_hosts.insert(hosts.emplace_back(saved.text()));
  gpu = saved.text();
  other_gpus = saved.number() != 0;
  layout.restore(saved);
  rows = saved.number();
  largest.size = restored_size(saved);
  largest.redop = saved.text();
  for (std::size_t group = 0; group < 2; ++group) {
    largest.algbw[group] = restored_real(saved);
    largest.busbw[group] = restored_real(saved);
  }
  smallest = restored_real(saved);
  peak = restored_real(saved);
  peak_size = restored_size(saved);
  dip.busbw = restored_real(saved);
  dip.size = restored_size(saved);
  dip.from = restored_real(saved);
  dip.from_size = restored_size(saved);
  wrong_rows = saved.number();
  wrong_values = restored_real(saved);
  first_wrong = restored_size(saved);
  checked = saved.number() != 0;
  stopped_at = restored_size(saved);
  out_of_bounds = saved.text();
  average = saved.text();
  largest_line.restore(saved);
  wrong_line.restore(saved);
  device_line.restore(saved);
}

void NcclTestsRun::save_added(SavedBytesWriter& saved) const {
  saved.number(times_in_hand);
  saved.text(in_hand.redop);
  save_real(saved, in_hand.algbw[0]);
  save_real(saved, in_hand.busbw[0]);
  saved.number(in_hand.wrong[0] ? 1 : 0);
  save_real(saved, in_hand.wrong[0].value_or(0));
}

void NcclTestsRun::restore_added(SavedBytesReader& saved) {
  in_hand.size = stopped_at;
  times_in_hand = saved.number();
  in_hand.redop = saved.text();
  in_hand.algbw[0] = restored_real(saved);
  in_hand.busbw[0] = restored_real(saved);
  const bool counted = saved.number() != 0;
  const double wrong = restored_real(saved);
  if (counted) in_hand.wrong[0] = wrong;
}

void NcclTestsRun::save_added_later(SavedBytesWriter& saved) const {
  saved.number(std::ssize(hosts_before));
  for (const std::string& host : hosts_before) saved.text(host);
  saved.number(lost_a_check ? 1 : 0);
  for (const std::uint64_t size : {first_size_before, first_size, last_size})
    saved.number(static_cast<std::int64_t>(size));
  saved.number(in_order ? 1 : 0);
}

void NcclTestsRun::restore_added_later(SavedBytesReader& saved) {
  const std::int64_t count = saved.number();
  for (std::int64_t i = 0; i < count && saved.ok() && hosts_before.size() < kMostHosts; ++i)
    hosts_before.emplace(saved.text());
  lost_a_check = saved.number() != 0;
  for (std::uint64_t* size : {&first_size_before, &first_size, &last_size})
    *size = restored_size(saved);
  in_order = saved.number() != 0;
}

std::size_t NcclTestsRun::size() const {
  return sizeof *this +
         (hosts.size() * 2 + hosts_before.size()) * (sizeof(std::string) + kMostWord) +
         largest_line.text.size() + wrong_line.text.size() + device_line.text.size();
}

void NcclTestsRun::comes_after(NcclTestsRun&& before) {
  hosts_before = std::move(before.hosts_before);
  for (const std::string& host : before.known_hosts)
    if (hosts_before.size() < kMostHosts) hosts_before.insert(host);
  first_size_before = before.first_size;
}

// Rows of a single run come in the order of their sizes, from the smallest. If two runs print at
// the same time, they do not.
bool NcclTestsRun::may_be_of_other_hosts() const {
  if (hosts_before.empty() || hosts_before == known_hosts) return false;
  return first_size_before == 0 || first_size == 0 || first_size > first_size_before || !in_order;
}

void NcclTestsRun::add_device(std::string_view host, std::string_view gpu_name) {
  ++ranks;
  host = host.substr(0, kMostWord);
  gpu_name = gpu_name.substr(0, kMostWord);
  if (hosts.size() < kMostHosts && !known_hosts.contains(host))
    known_hosts.insert(hosts.emplace_back(host));
  if (gpu.empty()) gpu = gpu_name;
  other_gpus |= gpu != gpu_name;
}

void NcclTestsRun::add(const NcclTestsRow& row, const DocumentLine& line) {
  if (first_size == 0) first_size = row.size;
  in_order &= row.size >= last_size;
  last_size = row.size;
  if (!row.measured) {
    stopped_at = row.size;
    in_hand = row;
    times_in_hand = 0;
    return;
  }
  stopped_at = 0;
  ++rows;
  const auto size_here = static_cast<double>(row.size);
  smallest = rows == 1 ? size_here : std::min(smallest, size_here);
  if (rows == 1 || row.size >= largest.size) {
    largest = row;
    largest_line.keep(line);
  }
  const double best = std::max(row.busbw[0], row.busbw[1]);
  if (best > peak) {
    peak = best;
    peak_size = row.size;
  } else if (row.size > peak_size && best > 0 &&
             (dip.size == 0 || best * dip.from < dip.busbw * peak)) {
    dip = {best, row.size, peak, peak_size};
  }
  double wrong = 0;
  for (const auto& count : row.wrong) {
    checked |= count.has_value();
    wrong += std::max(0.0, count.value_or(0));
  }
  if (wrong <= 0) return;
  wrong_values += wrong;
  if (++wrong_rows > 1) return;
  first_wrong = row.size;
  wrong_line.keep(line);
}

void NcclTestsRun::add(const NcclTestsTimes& times, const DocumentLine& line) {
  const auto group = static_cast<std::size_t>(times_in_hand++ == 0 ? 0 : 1);
  in_hand.algbw[group] = times.algbw;
  in_hand.busbw[group] = times.busbw;
  in_hand.wrong[group] = times.wrong;
  lost_a_check |= times.torn;
  if (group == 0) return;
  in_hand.measured = true;
  add(NcclTestsRow(in_hand), line);
}

// Guesses only all_reduce: no other collective moves more over the bus than its size.
std::string NcclTestsRun::collective() const {
  std::string_view name = program;
  if (name.ends_with("_perf")) name.remove_suffix(5);
  if (!name.empty()) return std::string(name);
  constexpr double kMore = 1.1;
  return largest.algbw[0] > 1 && largest.busbw[0] > kMore * largest.algbw[0] ? "all_reduce" : "";
}

// An all-reduce of n ranks moves 2 (n - 1) / n of its size over the bus. 0: not known.
int NcclTestsRun::ranks_by_ratio() const {
  constexpr double kMostRanks = 64;  // for more ranks two digits are too few to distinguish them
  if (collective() != "all_reduce" || largest.algbw[0] <= 1) return 0;
  const double ratio = largest.busbw[0] / largest.algbw[0];
  const double told = ratio < 2 ? std::round(2 / (2 - ratio)) : 0;
  return told >= 2 && told <= kMostRanks ? static_cast<int>(told) : 0;
}

std::string_view NcclTestsRun::host() const {
  return hosts.empty() || may_be_of_other_hosts() ? std::string_view() : hosts.front();
}

std::vector<NamedValue> NcclTestsRun::names() const {
  std::vector<NamedValue> told;
  auto add_name = [&told](std::string_view name, std::string value) {
    if (!value.empty()) told.push_back({std::string(name), std::move(value)});
  };
  add_name("collective", collective());
  if (may_be_of_other_hosts()) {
    add_name("output shared", "yes");
    return told;
  }
  if (!other_gpus) add_name("gpu", gpu);
  if (ranks > 0) add_name("ranks", std::to_string(ranks));
  if (!hosts.empty()) add_name("nodes", std::to_string(hosts.size()));
  std::string named;
  for (const std::string& host : hosts) {
    if (named.size() + host.size() >= kHostsBytes) break;
    named += (named.empty() ? "" : ",") + host;
  }
  add_name("hosts", std::move(named));
  return told;
}

// If no column has counts, or a count was lost with a torn row, the sum at the end decides.
bool NcclTestsRun::is_checked() const {
  if (checked && !lost_a_check) return true;
  return (checked || layout.wrong[0] < 0) && out_of_bounds.ends_with("OK");
}

void NcclTestsRun::give(std::vector<DocumentReading>& readings) const {
  auto give_one = [&](PartReport report, const KeptLine& line) {
    Reading reading{.fact = std::move(report), .host = std::string(host())};
    readings.push_back({std::move(reading), line.number > 0 ? std::optional(line) : std::nullopt});
  };
  if (empty()) {
    if (ranks > 0)
      give_one({.tool = std::string(kTool),
                .kind = "test_without_rows",
                .names = names(),
                .values = {{"rows", "0"}}},
               device_line);
    return;
  }
  const bool failed = out_of_bounds.find("FAILED") != std::string::npos ||
                      number_in_front(out_of_bounds).value_or(0) > 0;
  PartReport report{.tool = std::string(kTool), .kind = "bandwidth_test", .names = names()};
  auto value = [&report](std::string_view name, std::string text) {
    if (!text.empty()) report.values.push_back({std::string(name), std::move(text)});
  };
  if (wrong_rows > 0 || failed) {
    report.kind = "results_check";
    value("wrong rows", std::to_string(wrong_rows));
    value("wrong values", fmt::format("{}", wrong_values));
    if (first_wrong > 0) value("first wrong size", std::to_string(first_wrong));
    value("out of bounds", out_of_bounds);
    give_one(std::move(report), wrong_line);
    report = {.tool = std::string(kTool), .kind = "bandwidth_test", .names = names()};
  }
  if (rows > 0) {
    report.names.push_back({"largest size", std::to_string(largest.size)});
    value("busbw", fmt::format("{}", std::max(largest.busbw[0], largest.busbw[1])));
    value("busbw out of place", fmt::format("{}", largest.busbw[0]));
    if (largest.busbw[1] > 0) value("busbw in place", fmt::format("{}", largest.busbw[1]));
    value("peak busbw", fmt::format("{}", peak));
    value("peak size", std::to_string(peak_size));
    if (2 * dip.busbw < dip.from) {
      value("dip busbw", fmt::format("{}", dip.busbw));
      value("dip size", std::to_string(dip.size));
      value("dip from busbw", fmt::format("{}", dip.from));
      value("dip from size", std::to_string(dip.from_size));
    }
    value("smallest size", fmt::format("{:.0f}", smallest));
    value("rows", std::to_string(rows));
    if (const int told = ranks == 0 ? ranks_by_ratio() : 0; told > 0)
      value("ranks by ratio", std::to_string(told));
    value("checked", is_checked() ? "yes" : "no");
  }
  value("average busbw", average);
  value("out of bounds", out_of_bounds);
  if (stopped_at > 0) value("stopped at size", std::to_string(stopped_at));
  value("ended", average.empty() ? "no" : "yes");
  give_one(std::move(report), largest_line.number > 0 ? largest_line : wrong_line);
}

}  // namespace faultline
