#include "accuracy/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "accuracy/each.h"
#include "accuracy/kernel_text.h"
#include "simulate/job.h"

namespace faultline::accuracy {
namespace {

constexpr double kStated = 0.5;
constexpr std::uint64_t kSeeds = 3;
constexpr const char* kHealthy = "healthy";
// These show in calls, a traceback, kernel logs or a warning of NCCL.
constexpr const char* kTrue[] = {"rank_behind",       "data_loader_error", "gpu_ecc",
                                 "oom_killed",        "transport_error",   "collective_skipped_odd",
                                 "collective_stalled"};

struct NoisyLog {
  std::string file;
  bool benign = true;
  std::string raw;
  KernelText lines;
};

struct NoisyJob {
  std::string family;
  std::uint64_t seed = 0;
  simulation::Truth truth;
  ReadFiles files;
  std::string own_host;  // without part in the fault, if there is such a host
};

// The outcome of one diagnosis.
struct Trial {
  std::string log;
  std::string where;
  std::string job;     // empty: the log alone
  std::string answer;  // the accusations, or the first cause
  bool bad = false;
};

std::vector<NoisyLog> logs_in(const std::filesystem::path& folder) {
  const auto whole = [](const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  };
  std::vector<NoisyLog> logs;
  const boost::json::value index = boost::json::parse(whole(folder / "index.json"));
  for (const boost::json::value& entry : index.as_array()) {
    NoisyLog log;
    log.file = std::string(entry.at("file").as_string());
    log.benign = std::string(entry.at("judgement").as_string()).starts_with("BENIGN");
    log.raw = whole(folder / log.file);
    log.lines = kernel_text(log.raw);
    logs.push_back(std::move(log));
  }
  return logs;
}

NoisyJob job_of(const Doctor& doctor, const Family& family, std::uint64_t seed) {
  const Case made = case_of(family, seed);
  NoisyJob job{
      .family = family.name, .seed = seed, .truth = made.truth, .files = doctor.read(made.files)};
  const int nodes = options_of(family, seed).nodes;
  for (int host = nodes - 1; host >= 0; --host) {
    job.own_host = simulation::Cluster::host_name(host);
    if (std::ranges::find(made.truth.may_name.hosts, job.own_host) ==
        made.truth.may_name.hosts.end())
      break;
  }
  return job;
}

std::vector<NoisyJob> jobs_of(const Doctor& doctor, std::uint64_t first) {
  std::vector<NoisyJob> jobs;
  std::vector<std::string> wanted{kHealthy};
  wanted.insert(wanted.end(), std::begin(kTrue), std::end(kTrue));
  for (const std::string& name : wanted) {
    Family family{.name = name};
    family.options.scenario = name;
    for (std::uint64_t i = 0; i < kSeeds; ++i) jobs.push_back(job_of(doctor, family, first + i));
  }
  return jobs;
}

std::string accusations(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& cause : diagnosis.root_causes)
    if (cause.confidence >= kStated)
      text += fmt::format("{} {:.2f} \"{}\"; ", cause.cause, cause.confidence, cause.title);
  return text;
}

Trial judged(const Diagnosis& diagnosis, const NoisyJob* job) {
  Trial trial;
  if (job == nullptr || job->truth.cause.empty()) {
    trial.answer = accusations(diagnosis);
    trial.bad = !trial.answer.empty();
    return trial;
  }
  const bool first =
      !diagnosis.root_causes.empty() && diagnosis.root_causes.front().cause == job->truth.cause;
  trial.bad = !first;
  trial.answer = diagnosis.root_causes.empty()
                     ? "no cause"
                     : fmt::format("{} {:.2f} \"{}\"", diagnosis.root_causes.front().cause,
                                   diagnosis.root_causes.front().confidence,
                                   diagnosis.root_causes.front().title);
  return trial;
}

Trial beside(const Doctor& doctor, const NoisyLog& log, const NoisyJob& job, Placed placed,
             std::size_t form) {
  const bool of_now = placed == Placed::today || placed == Placed::during;
  const std::string host = !log.benign && of_now ? "gpu-node-99" : job.own_host;
  const ReadFiles noise =
      doctor.read({{host + "/kernel-log.txt",
                    told_again(log.lines, host, placed, simulation::beginning_of(1), form)}});
  Trial trial = judged(doctor.diagnose(job.files, noise), &job);
  trial.log = log.file;
  trial.where = name_of(placed);
  trial.job = fmt::format("{} #{}", job.family, job.seed);
  return trial;
}

std::vector<Trial> trials_of(const Doctor& doctor, const std::vector<NoisyJob>& jobs,
                             const NoisyLog& log, std::size_t number) {
  std::vector<Trial> trials;
  if (log.benign) {
    Trial alone = judged(doctor.diagnose(Files{{log.file, log.raw}}), nullptr);
    alone.log = log.file;
    alone.where = "alone";
    trials.push_back(std::move(alone));
  }
  // One seed of each family for each log; it changes with the place in time.
  for (std::size_t family = 0; family * kSeeds < jobs.size(); ++family)
    for (std::size_t place = 0; place < std::size(kPlaces); ++place) {
      const NoisyJob& job = jobs[family * kSeeds + (number + place) % kSeeds];
      if (!log.benign && job.truth.cause.empty()) continue;
      trials.push_back(beside(doctor, log, job, kPlaces[place], number + place));
    }
  return trials;
}

struct Sum {
  int bad = 0;
  int all = 0;
};

std::string table_of(const std::vector<std::vector<Trial>>& all) {
  std::map<std::string, Sum> healthy;
  std::map<std::string, Sum> faulty;
  Sum accused;
  Sum lost;
  for (const std::vector<Trial>& trials : all)
    for (const Trial& trial : trials) {
      const bool well = trial.job.empty() || trial.job.starts_with(kHealthy);
      for (Sum* sum :
           {well ? &healthy[trial.where] : &faulty[trial.where], well ? &accused : &lost}) {
        sum->bad += trial.bad;
        ++sum->all;
      }
    }
  const auto cell = [](const Sum& sum) {
    return sum.all == 0 ? std::string("–") : fmt::format("{} of {}", sum.bad, sum.all);
  };
  std::string text =
      "| kernel log | nothing is wrong: accused at ≥ 0.5 | a true cause: no longer first "
      "|\n|---|--:|--:|\n";
  text += fmt::format("| alone | {} | – |\n", cell(healthy["alone"]));
  for (const Placed placed : kPlaces) {
    const std::string where(name_of(placed));
    text += fmt::format("| {} | {} | {} |\n", where, cell(healthy[where]), cell(faulty[where]));
  }
  return text + fmt::format("| **all** | {} | {} |\n", cell(accused), cell(lost));
}

}  // namespace

std::string noise_report(const Doctor& doctor, const std::filesystem::path& folder,
                         std::uint64_t first_seed, unsigned threads, bool list_all) {
  const std::vector<NoisyLog> logs = logs_in(folder);
  const std::vector<NoisyJob> jobs = jobs_of(doctor, first_seed);
  std::string text;
  for (const NoisyJob& job : jobs)
    if (const Trial alone = judged(doctor.diagnose(job.files), &job); alone.bad)
      text += fmt::format("without any noise: {} #{}: {}\n", job.family, job.seed, alone.answer);
  std::vector<std::vector<Trial>> all(logs.size());
  for_each_number(logs.size(), threads,
                  [&](std::size_t i) { all[i] = trials_of(doctor, jobs, logs[i], i); });
  if (list_all)
    for (const std::vector<Trial>& trials : all)
      for (const Trial& trial : trials)
        if (trial.bad)
          text += fmt::format("{} [{}] {}: {}\n", trial.log, trial.where,
                              trial.job.empty() ? "alone" : trial.job, trial.answer);
  return text + table_of(all);
}

}  // namespace faultline::accuracy
