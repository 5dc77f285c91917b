#include "rules/picture/read/gpus_by_time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace faultline {
namespace {

struct Told {
  std::string gpu;
  EventTime time;
};

// The same, by asking each line.
std::string first_by_asking_all(const std::vector<Told>& lines, const EventTime& time,
                                std::int64_t from, std::int64_t to, const std::string& but) {
  for (const Told& line : lines) {
    const bool uptimes = line.time.uptime_us && time.uptime_us;
    const bool walls = line.time.wall_us && time.wall_us;
    if ((!uptimes && !walls) || line.gpu == but) continue;
    const std::int64_t passed =
        uptimes ? *line.time.uptime_us - *time.uptime_us : *line.time.wall_us - *time.wall_us;
    if (passed >= from && passed <= to) return line.gpu;
  }
  return {};
}

TEST(GpusByTime, FindsTheLineThatIsFoundByAskingAll) {
  std::minstd_rand random(7);
  const auto below = [&](std::uint32_t most) { return static_cast<std::int64_t>(random() % most); };
  const auto a_time = [&] {
    EventTime time;
    if (below(3) != 0) time.uptime_us = below(100);
    if (below(3) != 0) time.wall_us = below(100);
    return time;
  };
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Told> lines;
    GpusByTime gpus;
    for (std::int64_t count = below(20); count > 0; --count) {
      lines.push_back({fmt::format("gpu-{}", below(4)), a_time()});
      gpus.add(lines.back().gpu, lines.back().time);
    }
    gpus.arrange();
    for (int ask = 0; ask < 10; ++ask) {
      const EventTime time = a_time();
      const std::string but = fmt::format("gpu-{}", below(5));
      const std::string expected = first_by_asking_all(lines, time, -5, 9, but);
      EXPECT_EQ(gpus.first_near(time, -5, 9, but), expected);
      found += !expected.empty();
    }
  }
  EXPECT_GT(found, 400);
}

}  // namespace
}  // namespace faultline
