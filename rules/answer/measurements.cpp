#include "rules/answer/measurements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rules/detect/performance/measured.h"

namespace faultline {
namespace {

constexpr std::size_t kMostTold = 3;

std::string to_whom(const PartRecord& record) {
  const std::string_view to = record.name("to");
  return to.empty() ? std::string() : fmt::format(" to {}", to);
}

// "1 GiB", "65536 bytes"
std::string in_bytes(std::string_view text) {
  const double bytes = leading_number(text).value_or(0);
  for (const auto& [unit, name] : {std::pair{30, "GiB"}, std::pair{20, "MiB"}})
    if (const double count = std::ldexp(bytes, -unit); count >= 1 && count == std::floor(count))
      return fmt::format("{:.0f} {}", count, name);
  return fmt::format("{:.0f} bytes", bytes);
}

std::string table_in_words(const View& view, const PartRecord& record) {
  const std::string_view collective = record.name("collective");
  const std::string busbw = text_in(view, record, "busbw");
  const std::string average = text_in(view, record, "average busbw");
  std::string text = fmt::format("{}", collective.empty() ? "a collective" : collective);
  if (!busbw.empty())
    text += fmt::format(" {} GB/s of bus bandwidth with messages of {}", busbw,
                        in_bytes(record.name("largest size")));
  if (const auto mean = leading_number(average))
    text += fmt::format("{} {} GB/s on average", busbw.empty() ? "" : ",", *mean);
  return busbw.empty() && average.empty() ? std::string() : text;
}

std::string line_in_words(const View& view, const PartRecord& record) {
  const std::string bandwidth = text_in(view, record, "bandwidth");
  if (bandwidth.empty()) return {};
  return fmt::format("{} {} GB/s with messages of {}", record.name("collective"), bandwidth,
                     in_bytes(record.name("size bytes")));
}

std::string iperf3_in_words(const View& view, const PartRecord& record) {
  for (const char* name : {"receiver / Bitrate", "sender / Bitrate", "Bitrate"})
    if (const std::string rate = text_in(view, record, name); !rate.empty())
      return fmt::format("iperf3 {}{}", rate, to_whom(record));
  if (const auto bits = number_in(view, record, "end / sum_received / bits_per_second"))
    return fmt::format("iperf3 {:.3g} Gbits/sec{}", *bits / 1e9, to_whom(record));
  return {};
}

std::string perftest_in_words(const View& view, const PartRecord& record) {
  for (const auto& [column, unit] :
       {std::pair{"BW average[Gb/sec]", "Gb/sec"}, std::pair{"BW average[MB/sec]", "MB/sec"},
        std::pair{"BW average[MiB/sec]", "MiB/sec"}, std::pair{"t_avg[usec]", "usec"},
        std::pair{"t_typical[usec]", "usec"}})
    if (const std::string value = text_in(view, record, column); !value.empty())
      return fmt::format("RDMA{} {} {} with messages of {}", to_whom(record), value, unit,
                         in_bytes(text_in(view, record, "#bytes")));
  return {};
}

std::string ping_in_words(const View& view, const PartRecord& record) {
  const std::optional<Pings> pings = pings_in(view, record);
  if (!pings) return {};
  return fmt::format("{:.0f} of {:.0f} pings{} were answered", pings->received, pings->sent,
                     to_whom(record));
}

std::string segments_in_words(const View& view, const PartRecord& record) {
  const auto sent = number_in(view, record, "segments sent");
  const auto again = number_in(view, record, "segments sent again");
  if (!sent || !again || *sent <= 0) return {};
  return fmt::format("{:.3g} % of {:.0f} TCP segments were sent again", 100 * *again / *sent,
                     *sent);
}

std::string in_words(const View& view, const PartRecord& record) {
  if (record.tool == "nccl-tests") return table_in_words(view, record);
  if (record.tool == "bandwidth-line") return line_in_words(view, record);
  if (record.tool == "iperf3") return iperf3_in_words(view, record);
  if (record.tool == "perftest") return perftest_in_words(view, record);
  if (record.tool == "ping" || record.tool == "ibping") return ping_in_words(view, record);
  if (record.tool == "tcp-statistics") return segments_in_words(view, record);
  return {};
}

// A report without an error shows that the processes live, but not that they make progress.
std::string ras_in_words(const View& view) {
  const JobReport* report = view.job.reports().latest();
  if (report == nullptr || report->largest == 0 || report->seen < report->largest) return {};
  for (const auto& [id, communicator] : report->communicators)
    if (communicator.missing > 0 || (communicator.errors != "OK" && !communicator.errors.empty()))
      return {};
  return fmt::format(
      "ncclras: all {} ranks answered and none was behind; a second report a minute later would "
      "show whether they move.",
      report->largest);
}

}  // namespace

std::string measured_in_words(const View& view) {
  std::vector<std::string> told;
  std::size_t more = 0;
  for (const PartRecord& record : view.job.parts().records()) {
    std::string words = in_words(view, record);
    if (words.empty()) continue;
    if (told.size() < kMostTold)
      told.push_back(std::move(words));
    else
      ++more;
  }
  std::string ras = ras_in_words(view);
  if (told.empty()) return ras;
  return fmt::format("Measured: {}{}.{}{}", fmt::join(told, "; "),
                     more == 0 ? "" : fmt::format("; and {} more", more), ras.empty() ? "" : " ",
                     ras);
}

}  // namespace faultline
