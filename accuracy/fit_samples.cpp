#include "accuracy/fit_samples.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "accuracy/each.h"
#include "accuracy/judgement.h"
#include "accuracy/real.h"
#include "model/cause.h"
#include "simulate/chance.h"

namespace faultline::accuracy {
namespace {

constexpr double kRealCounts = 8;

FitSample::Part part_of(const Family& family, std::uint64_t seed) {
  std::uint64_t drawn = 0;
  for (const char c : family.name) drawn = simulation::mixed(drawn ^ static_cast<unsigned char>(c));
  if (drawn % 5 == 0) return FitSample::Part::other_families;
  return seed % 4 == 0 ? FitSample::Part::other_seeds : FitSample::Part::fitted;
}

}  // namespace

std::vector<FitSample> samples_of_jobs(const Doctor& doctor, const WeightTable& table,
                                       const std::vector<Family>& families, std::uint64_t first,
                                       std::uint64_t seeds, unsigned threads) {
  std::vector<std::vector<FitSample>> all(families.size() * seeds);
  for_each_number(all.size(), threads, [&](std::size_t i) {
    const Family& family = families[i / seeds];
    const std::uint64_t seed = first + i % seeds;
    const Case made = case_of(family, seed);
    const Diagnosis diagnosis = doctor.diagnose(made.files);
    const Score score =
        judge(diagnosis, wanted_of(family, options_of(family, seed).nccl, made.truth));
    for (std::size_t at = 0; at < score.stated.size(); ++at)
      if (auto sample = sample_of(table, score.stated[at].sum)) {
        sample->right = score.stated[at].right;
        sample->part = part_of(family, seed);
        all[i].push_back(std::move(*sample));
      }
  });
  std::vector<FitSample> samples;
  for (const std::vector<FitSample>& some : all)
    samples.insert(samples.end(), some.begin(), some.end());
  return samples;
}

std::vector<FitSample> samples_of_logs(const Doctor& doctor, const WeightTable& table,
                                       const std::filesystem::path& folder) {
  std::ostringstream index;
  index << std::ifstream(folder / "index.json").rdbuf();
  std::vector<FitSample> samples;
  for (const Label& label : labels_of(index.str())) {
    const Diagnosis diagnosis = doctor.diagnose_path(folder / label.file);
    for (const Finding& cause : diagnosis.root_causes) {
      // Nobody knows whether a symptom is right here.
      if (label.symptoms_allowed && is(cause.cause, Trait::symptom)) continue;
      auto sample = sample_of(table, sum_of(diagnosis, cause));
      if (!sample) continue;
      sample->right = is_of(cause, label);
      sample->counts = kRealCounts;
      sample->part = FitSample::Part::real;
      samples.push_back(std::move(*sample));
    }
  }
  return samples;
}

}  // namespace faultline::accuracy
