#include "accuracy/reading.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "app/input_reader.h"
#include "app/input_walker.h"
#include "rules/answer/diagnosis.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "simulate/simulate.h"

namespace faultline::accuracy {
namespace {

constexpr std::string_view kLogs = "logs/";

bool is_nccl(std::string_view name) { return name.find("nccl") != std::string_view::npos; }

// gpu-node-3/nccl.log: every second host is lost, by its number.
bool is_of_a_lost_host(std::string_view name, std::uint64_t seed) {
  const std::string_view host = name.substr(0, name.find('/'));
  return !host.empty() && (static_cast<std::uint64_t>(host.back()) + seed) % 2 == 0;
}

std::string without_calls(const std::string& text) {
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.find(": opCount ") == std::string_view::npos) rest += line;
    at = end;
  }
  return rest;
}

// The middle of a log, as a ring buffer keeps it; the seed decides where it begins and ends.
std::string middle_of(const std::string& text, std::uint64_t seed) {
  const double from = 0.35 + 0.05 * static_cast<double>(seed % 3);
  const double until = 0.75 + 0.05 * static_cast<double>(seed % 4);
  const auto line_at = [&](double share) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(text.size()));
    return std::min(text.find('\n', at), text.size() - 1) + 1;
  };
  return text.substr(line_at(from), line_at(until) - line_at(from));
}

// The day of the simulated jobs.
constexpr Timestamp kNow{std::chrono::seconds{1'772'712'000}};

}  // namespace

Case case_of(const Family& family, std::uint64_t seed) {
  simulation::MemoryOutput output;
  Case made;
  made.truth = simulation::simulate(options_of(family, seed), output);
  for (auto& [path, text] : output.files) {
    if (!path.starts_with(kLogs)) continue;
    const std::string name = path.substr(kLogs.size());
    if (family.loss == Loss::half_of_hosts && is_nccl(name) && is_of_a_lost_host(name, seed))
      continue;
    if (family.loss == Loss::told_by_hosts && !is_nccl(name)) continue;
    if (family.loss == Loss::calls && is_nccl(name))
      text = without_calls(text);
    else if (family.loss == Loss::but_the_middle && is_nccl(name))
      text = middle_of(text, seed);
    made.files[name] = std::move(text);
  }
  return made;
}

Doctor::Doctor() : catalog_(load_catalog()), asked_(std::make_shared<AskedByCatalog>(catalog_)) {}

ReadFiles Doctor::read(const Files& files) const {
  ReadFiles all;
  for (const auto& [name, text] : files) {
    Reader reader(Cursor{}, kNow, asked_);
    reader.feed(text);
    reader.close();
    all.emplace_back(Source{.job = "simulated", .name = name, .host = ""}, reader.take());
  }
  return all;
}

Diagnosis Doctor::diagnose(const Files& files) const { return diagnose(read(files)); }

Diagnosis Doctor::diagnose(const ReadFiles& files, const ReadFiles& besides) const {
  JobState job("simulated");
  for (const ReadFiles* some : {&files, &besides})
    for (const auto& [source, batch] : *some) job.apply(source, batch, kNow);
  return faultline::diagnose(job, catalog_, {.now = kNow});
}

Diagnosis Doctor::diagnose_path(const std::filesystem::path& path) const {
  JobState job("offline");
  Timestamp newest{};
  if (const Result<Inputs> inputs = find_inputs({path.string()}, kNow)) {
    std::atomic<std::uint64_t> bytes = 0;
    for (const InputFile& file : inputs->files) {
      newest = std::max(newest, file.changed);
      read_input(file, Source{.job = "offline", .name = "", .host = ""}, asked_, bytes, kNow,
                 [&](const SourceBatch& read) {
                   job.apply(*read.source, read.batch, read.received);
                   return true;
                 });
    }
  }
  return faultline::diagnose(job, catalog_, {.now = newest});
}

}  // namespace faultline::accuracy
