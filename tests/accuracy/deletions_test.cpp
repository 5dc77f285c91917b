// A missing line must not make a part look guilty: whatever single line of a job is deleted, a
// wrong part may be newly accused only very rarely. FAULTLINE_EVERY=1 deletes each line in turn
// (hours), N each Nth one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "accuracy/judgement.h"
#include "accuracy/reading.h"
#include "sampled.h"

namespace faultline::accuracy {
namespace {

constexpr double kAccused = 0.8;
constexpr std::uint64_t kSeed = 31;

// The highest confidence among the wrong statements.
double surest_wrong(const Score& score) {
  double surest = 0;
  for (const Stated& stated : score.stated)
    if (!stated.right) surest = std::max(surest, stated.confidence);
  return surest;
}

struct Place {
  std::string file;
  std::size_t begin = 0;
  std::size_t end = 0;  // after its newline
};

// Collectives are many and alike, so of each file only the first few and some of the last are
// deleted. The very last ones are left: they show where the rank stopped, and without them no
// diagnosis can be right.
std::vector<Place> lines_of(const Files& files) {
  constexpr std::size_t kFew = 6;
  std::vector<Place> lines;
  for (const auto& [name, text] : files) {
    if (text.find('\0') != std::string::npos) continue;  // a binary dump
    std::vector<Place> calls;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string_view line = std::string_view(text).substr(at, end - at);
      (line.find("opCount") == std::string_view::npos ? lines : calls).push_back({name, at, end});
      at = end;
    }
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (i < kFew || (i + 2 * kFew >= calls.size() && i + kFew < calls.size()))
        lines.push_back(calls[i]);
  }
  return lines;
}

TEST(DeletedLines, MakeNobodyGuilty) {
  constexpr std::size_t kUsualStep = 9973;
  const std::size_t step = every(kUsualStep);
  // All families only if the test is run for itself.
  const std::size_t family_step = step == kUsualStep ? 4 : 1;
  constexpr std::size_t kOneIn = 200;  // at most one deletion in so many may accuse a wrong part
  const Doctor doctor;
  std::size_t number = 0;
  std::size_t tried = 0;
  std::size_t accused = 0;
  const std::vector<Family> all = families();
  for (std::size_t i = 0; i < all.size(); i += family_step) {
    const Family& family = all[i];
    const Case job = case_of(family, kSeed);
    const Wanted wanted = wanted_of(family, options_of(family, kSeed).nccl, job.truth);
    const double before = surest_wrong(judge(doctor.diagnose(job.files), wanted));
    for (const Place& line : lines_of(job.files)) {
      if (number++ % step != 0) continue;
      Files files = job.files;
      std::string& text = files[line.file];
      const std::string gone = text.substr(line.begin, line.end - line.begin);
      text.erase(line.begin, line.end - line.begin);
      const Diagnosis diagnosis = doctor.diagnose(files);
      const Score score = judge(diagnosis, wanted);
      ++tried;
      if (surest_wrong(score) <= std::max(before, kAccused)) continue;
      ++accused;
      fmt::print("{}, {} without: {}{}\n", family.name, line.file, gone, diagnosis.summary);
    }
  }
  fmt::print("{} lines were deleted; {} of them accuse somebody\n", tried, accused);
  EXPECT_GT(tried, kOneIn / 8);
  EXPECT_LE(accused * kOneIn, tried);
}

}  // namespace
}  // namespace faultline::accuracy
