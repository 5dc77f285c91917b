#include "ship/collect/collector.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "logging/log.h"
#include "ship/collect/kernel_buffer.h"
#include "ship/collect/port_counters.h"
#include "ship/collect/ras_client.h"
#include "ship/collect/recorder_pipe.h"

namespace faultline {
namespace {

constexpr const char* kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

constexpr std::size_t kMostDetail = 400;  // that a server is told

CollectSettings with_path(CollectSettings settings) {
  if (settings.path.empty()) settings.path = own_environment("PATH");
  if (settings.path.empty()) settings.path = kUsualPath;
  return settings;
}

std::string words_of_command(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

void audit(const CollectRequest& wanted, const std::string& what) {
  std::vector<LogField> fields{{"id", wanted.id}};
  if (!wanted.why.empty()) fields.emplace_back("why", in_log(wanted.why));
  say(LogLevel::info, "collect",
      fmt::format("{} for job {}: {}", in_log(wanted.kind), in_log(wanted.job), what),
      std::move(fields));
}

std::string collected_prefix(const std::string& host) { return host + "/collected/"; }

}  // namespace

bool is_collected(const LogTarget& target) {
  return target.source.starts_with(collected_prefix(target.host));
}

EvidenceCollector::EvidenceCollector(CollectSettings settings, std::string host,
                                     const std::filesystem::path& state, GiveEvidence give)
    : settings_(with_path(std::move(settings))),
      host_(std::move(host)),
      give_(std::move(give)),
      commands_(settings_.path, stopped_),
      // What a dry run refuses must be possible when it is over.
      history_(settings_.dry_run ? std::filesystem::path() : state, settings_.pace) {}

void EvidenceCollector::stop() { stopped_ = true; }

void EvidenceCollector::know_logs(std::map<std::string, LogsOfJob> logs) {
  const std::lock_guard lock(mutex_);
  logs_ = std::move(logs);
}

bool EvidenceCollector::is_known(const std::string& job) const {
  {
    const std::lock_guard lock(mutex_);
    if (logs_.contains(job)) return true;
  }
  return !processes_of(job, {}).empty();
}

std::vector<JobProcess> EvidenceCollector::processes_of(const std::string& job,
                                                        const std::set<int>& ranks) const {
  LogsOfJob logs;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = logs_.find(job); found != logs_.end()) logs = found->second;
  }
  return processes_of_job(settings_.proc, job, ranks, logs);
}

std::string EvidenceCollector::refusal(const CollectRequest& wanted) {
  if (!wanted.fault.empty()) return wanted.fault;
  if (find_kind(wanted.kind) == nullptr) return "there is no such kind";
  if (!settings_.kinds.contains(wanted.kind)) return "this kind is not switched on";
  if (!is_known(wanted.job)) return "this host has no logs and no processes of the job";
  return history_.refusal(wanted);
}

CollectOutcome EvidenceCollector::collect(const CollectRequest& wanted) {
  if (std::string why = refusal(wanted); !why.empty()) {
    audit(wanted, "refused: " + why);
    return {"refused", std::move(why)};
  }
  const CollectKind& kind = *find_kind(wanted.kind);
  if (!history_.add(wanted)) {
    audit(wanted, "refused: the state folder cannot be written to");
    return {"failed", "the agent cannot remember what it collects"};
  }
  if (!settings_.dry_run) return run(kind, wanted);
  audit(wanted, fmt::format("dry run: would run: {}", kind.runs));
  return {"dry_run", std::string(kind.runs)};
}

CollectOutcome EvidenceCollector::run(const CollectKind& kind, const CollectRequest& wanted) {
  const auto began = std::chrono::steady_clock::now();
  Gathered gathered = gather(kind, wanted);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::size_t bytes = 0;
  for (const GatheredText& text : gathered.texts) bytes += text.text.size();
  audit(wanted, fmt::format("{}{}{}; {} bytes in {:.1f} s", gathered.ran,
                            gathered.failure.empty() || gathered.ran.empty() ? "" : "; ",
                            gathered.failure, bytes, took.count()));
  if (stopped_) return {"failed", "the agent stops"};
  if (!gathered.failure.empty()) return {"failed", in_log(gathered.failure, kMostDetail)};
  std::string detail = fmt::format("{} bytes; {}", bytes, gathered.ran);
  if (!hand_over(kind, wanted, std::move(gathered.texts)))
    return {"failed", "there is no room for it in the spool"};
  return {"sent", in_log(detail, kMostDetail)};
}

Gathered EvidenceCollector::gather(const CollectKind& kind, const CollectRequest& wanted) {
  const auto processes = [&] { return processes_of(wanted.job, wanted.ranks); };
  switch (kind.how) {
    case CollectKind::How::all_commands:
    case CollectKind::How::first_command:
      return gather_commands(kind);
    case CollectKind::How::port_counters:
      return gather_port_counters(settings_.sys, settings_.between_counters, commands_,
                                  settings_.command, stopped_);
    case CollectKind::How::stacks:
      return gather_stacks(processes(), settings_.proc, commands_, settings_.stacks, stopped_);
    case CollectKind::How::ras:
      return gather_ras(wanted);
    case CollectKind::How::flight_recorder:
      return ask_flight_recorders(processes(), settings_.proc);
  }
  return {};
}

Gathered EvidenceCollector::gather_commands(const CollectKind& kind) {
  CommandLimits limits = settings_.command;
  limits.keeps_end = kind.keeps_end;
  const bool wants_one = kind.how == CollectKind::How::first_command;
  Gathered gathered;
  std::string text;
  bool any = false;
  bool all_failed = true;
  for (const std::vector<std::string>& command : kind.commands) {
    const std::string words = words_of_command(command);
    const CommandResult result = commands_.run(command, limits);
    add_to_list(gathered.ran,
                fmt::format("{}: {}", words, result.ok() ? "exit status 0" : result.failure));
    any = any || !result.output.empty();
    // As in a terminal, where the command names what its output is about.
    text += fmt::format("$ {}\n{}", words, result.output);
    if (!result.ok()) text += fmt::format("faultline: {}: {}\n", words, result.failure);
    all_failed = all_failed && !result.ok();
    if (wants_one && result.ok()) break;
  }
  if (kind.asks_kernel && all_failed) {
    std::string failure;
    const std::string messages = with_dates(read_kernel_buffer(failure), boot_clock_us());
    add_to_list(gathered.ran,
                fmt::format("the kernel: {}", failure.empty() ? "answered" : failure));
    any = any || !messages.empty();
    text += messages;
  }
  if (any)
    gathered.texts.push_back({.part = {}, .text = std::move(text)});
  else
    gathered.failure = "nothing was printed";
  return gathered;
}

// Another job's report would accuse this one.
Gathered EvidenceCollector::gather_ras(const CollectRequest& wanted) {
  Gathered gathered;
  const auto processes = processes_of(wanted.job, {});
  if (are_of_several_users(processes) || !listens(processes, settings_.proc, settings_.ras_port)) {
    gathered.failure = fmt::format("no process of the job listens at port {}", settings_.ras_port);
    return gathered;
  }
  RasReport report = ask_ras_service(settings_.ras_port, settings_.command.time,
                                     settings_.command.bytes, stopped_);
  gathered.ran = fmt::format("asked 127.0.0.1:{}", settings_.ras_port);
  gathered.failure = std::move(report.failure);
  if (gathered.failure.empty())
    gathered.texts.push_back({.part = {}, .text = std::move(report.text)});
  return gathered;
}

// Waits for room in the spool, as logs do, but not until it is of no use any more.
bool EvidenceCollector::hand_over(const CollectKind& kind, const CollectRequest& wanted,
                                  std::vector<GatheredText> texts) {
  constexpr std::chrono::milliseconds kBetweenTries{100};
  const auto until = std::chrono::steady_clock::now() + settings_.wait_for_room;
  for (GatheredText& text : texts) {
    std::string source = fmt::format("{}{}/{}", collected_prefix(host_), kind.name, wanted.id);
    if (!text.part.empty()) source += "/" + text.part;
    const CollectedText evidence{.target = {.job = wanted.job,
                                            .host = host_,
                                            .source = std::move(source),
                                            .rank = text.rank},
                                 .text = std::move(text.text)};
    while (!give_(evidence)) {
      if (stopped_ || std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
  return true;
}

}  // namespace faultline
