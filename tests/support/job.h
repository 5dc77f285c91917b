// A job in a few words, for tests of rules: its ranks join, call, stop; its kernels report.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "rules/answer/diagnosis.h"

namespace faultline {

inline Signature all_reduce(std::uint64_t count = 1024) {
  return {.function = "AllReduce", .count = count, .datatype = 7};
}
inline Signature all_gather(std::uint64_t count = 1024) {
  return {.function = "AllGather", .count = count, .datatype = 7};
}
inline Signature send_to(int peer, std::uint64_t count = 8) {
  return {.function = "Send", .count = count, .datatype = 7, .root = peer};
}
inline Signature recv_from(int peer, std::uint64_t count = 8) {
  return {.function = "Recv", .count = count, .datatype = 7, .root = peer};
}

// One source per rank, "rank-N.log"; one per host's kernel, "HOST/dmesg.txt".
class Job {
 public:
  explicit Job(std::string name = "j") : state(std::move(name)) {}

  static std::string host_of(int rank) { return fmt::format("node-{}", rank / 8); }
  static std::string gpu_of(int rank) { return fmt::format("0000:{:02x}:00.0", 0x10 + rank % 8); }

  // Rank `rank` of the job becomes rank `as` of a communicator with `nranks` ranks.
  void join(int rank, const std::string& communicator, int as, int nranks) {
    CommunicatorInit init{.communicator = pointer(communicator),
                          .rank = as,
                          .nranks = nranks,
                          .cuda_device = rank % 8,
                          .nvml_device = rank % 8,
                          .gpu = gpu_of(rank),
                          .communicator_id = print_no_ids ? "" : communicator,
                          .complete = true};
    say(source_of(rank), speaker_now(rank), init,
        fmt::format("rank {} joins {}", rank, communicator), clock);
    sizes_[communicator] = nranks;
  }

  void join_all(int ranks, const std::string& communicator = "world") {
    for (int rank = 0; rank < ranks; ++rank) join(rank, communicator, rank, ranks);
  }

  // The rank begins to join, and no line says that it finished.
  void begin_to_join(int rank, const std::string& communicator, int as, int nranks) {
    say(source_of(rank), speaker_of(rank),
        CommunicatorInit{.communicator = pointer(communicator),
                         .rank = as,
                         .nranks = nranks,
                         .cuda_device = rank % 8,
                         .nvml_device = rank % 8,
                         .gpu = gpu_of(rank),
                         .communicator_id = communicator},
        fmt::format("rank {} begins to join {}", rank, communicator));
    sizes_[communicator] = nranks;
  }

  // What NCCL prints once all ranks have exchanged their places.
  void print_shape(int rank, const std::string& communicator, int as, int nranks) {
    say(source_of(rank), speaker_of(rank),
        CommunicatorShape{.communicator = pointer(communicator),
                          .rank = as,
                          .nranks = nranks,
                          .nodes = (nranks + 7) / 8,
                          .local_ranks = std::min(nranks, 8),
                          .local_rank = as % 8},
        fmt::format("rank {} knows the shape of {}", rank, communicator));
  }

  // One rank sends, the other receives.
  void exchange(int from, int to, int times = 1, const std::string& communicator = "world",
                std::uint64_t count = 8) {
    for (int i = 0; i < times; ++i) {
      call({from}, send_to(to, count), 1, communicator);
      call({to}, recv_from(from, count), 1, communicator);
    }
  }

  // These ranks make the same call `times` times.
  void call(const std::vector<int>& ranks, const Signature& signature, int times = 1,
            const std::string& communicator = "world") {
    for (int rank : ranks)
      for (int i = 0; i < times; ++i) call_once(rank, signature, communicator, op_count_[rank]++);
  }
  void call_on(int rank, std::uint64_t pointer, int nranks, const Signature& signature,
               std::uint64_t op_count) {
    pointers_.try_emplace(fmt::format("{:x}", pointer), pointer);
    sizes_[fmt::format("{:x}", pointer)] = nranks;
    call_once(rank, signature, fmt::format("{:x}", pointer), op_count);
  }
  void call_once(int rank, const Signature& signature, const std::string& communicator,
                 std::uint64_t op_count) {
    call_from(source_of(rank), rank, signature, communicator, op_count);
  }
  void call_from(const Source& source, int rank, const Signature& signature,
                 const std::string& communicator, std::uint64_t op_count) {
    Batch batch = next(source);
    batch.speakers = {speaker_now(rank)};
    batch.signatures = {signature};
    CallRun run;
    run.communicator = signature.done ? 0 : pointer(communicator);
    run.nranks = signature.done ? 0 : sizes_[communicator];
    run.calls = {{op_count, 0, 0, 0}};
    run.first_time = run.last_time = clock;
    run.last_text = fmt::format("rank {} calls {}", rank, to_text(signature));
    batch.runs = {run};
    apply(source, batch);
  }

  // A call on a communicator without an Init line.
  void call_as_stranger(int rank, const Signature& signature, int nranks, std::uint64_t op_count) {
    sizes_["stranger"] = nranks;
    call_once(rank, signature, "stranger", op_count);
  }

  // Ends the log of the rank in this way.
  void log_ends(int rank, SourceEnd how) {
    Batch batch = next(source_of(rank));
    batch.end = how;
    apply(source_of(rank), batch);
  }

  void end(int rank, const std::string& communicator, CommunicatorEnding how) {
    say(source_of(rank), speaker_now(rank),
        CommunicatorEnd{.communicator = pointer(communicator), .ending = how}, "ends");
  }

  // A line of a rank in words of its own.
  void remark(int rank, const std::string& level, const std::string& text, EventTime time = {}) {
    say(source_of(rank), speaker_of(rank), Remark{.dialect = "nccl", .level = level, .text = text},
        fmt::format("{}:{} NCCL {} {}", host_of(rank), 1000 + rank, level, text), time);
  }
  void warn(int rank, const std::string& text, EventTime time = {}) {
    remark(rank, "warn", text, time);
  }
  void back_trace(int rank, const std::string& place, int code,
                  const std::string& thread_name = "") {
    say(source_of(rank), speaker_of(rank),
        BackTrace{.place = place, .code = code, .thread_name = thread_name},
        fmt::format("{} -> {}", place, code));
  }
  // A setting of a rank.
  void setting(int rank, const std::string& group, const std::string& name,
               const std::string& value) {
    say(source_of(rank), speaker_of(rank), Setting{.group = group, .name = name, .value = value},
        fmt::format("{} {} {}", group, name, value));
  }

  void xid(const std::string& host, const std::string& gpu, int code, EventTime time = {}) {
    say(kernel_of(host), Speaker{}, GpuXid{.gpu = gpu, .code = code}, fmt::format("Xid {}", code),
        time);
  }

  // A line of the kernel of a host, or of a program that watches the host.
  void kernel(const std::string& host, const std::string& text, EventTime time = {}) {
    say(kernel_of(host), Speaker{}, Remark{.dialect = "kernel", .text = text}, text, time);
  }
  void system(const std::string& host, const std::string& program, const std::string& text,
              EventTime time = {}) {
    say(kernel_of(host), Speaker{}, Remark{.dialect = "system", .place = program, .text = text},
        program + ": " + text, time);
  }
  void boot(const std::string& host, EventTime time = {}) {
    say(kernel_of(host), Speaker{}, HostBooted{.kernel = "5.15.0-91"}, "Linux version 5.15.0-91",
        time);
  }

  // A report of a tool on a part. `host` is where the tool ran; each file is a source of its own.
  void part(const std::string& host, PartReport report, EventTime time = {},
            const std::string& file = "tools.txt") {
    std::string text = report.tool;
    for (const NamedValue& name : report.names) text += " " + name.value;
    say({"j", host.empty() ? file : host + "/" + file, host, -1}, Speaker{}, std::move(report),
        std::move(text), time);
  }

  // A report of a tool that looks at the job from outside.
  void report(Fact fact, std::string text, const std::string& source = "ras.txt",
              EventTime time = {}) {
    say({"j", source, "", -1}, Speaker{}, std::move(fact), std::move(text), time);
  }

  void say(const Source& source, const Speaker& speaker, Fact fact, std::string text,
           EventTime time = {}) {
    Batch batch = next(source);
    batch.speakers = {speaker};
    batch.events = {{.order = 0,
                     .speaker = 0,
                     .line = batch.first_line,
                     .offset = batch.from_offset,
                     .time = time,
                     .fact = std::move(fact),
                     .text = std::move(text)}};
    apply(source, batch);
  }

  // `attempt`: 0 means the latest.
  Diagnosis diagnosis(int attempt = 0) const {
    static const Catalog catalog = load_catalog();
    return diagnose(state, catalog, moment, attempt);
  }

  // The job is started again: other processes, whose lines follow in the same logs.
  void restart() {
    generation_ += 1;
    op_count_.clear();
  }

  static Source source_of(int rank) { return {"j", fmt::format("rank-{}.log", rank), "", -1}; }
  static Source kernel_of(const std::string& host) {
    return {"j", host.empty() ? std::string("dmesg.txt") : host + "/dmesg.txt", host, -1};
  }
  static Speaker speaker_of(int rank) { return {host_of(rank), 1000 + rank, rank % 8, -1}; }
  // The current process of the rank; see restart().
  Speaker speaker_now(int rank) const {
    Speaker speaker = speaker_of(rank);
    if (in_containers) speaker.pid = 70 + rank;
    speaker.pid += 1000 * generation_;
    return speaker;
  }

  // The processes from before a restart continue beside those after it.
  void back_to(int generation) { generation_ = generation; }

  JobState state;
  Moment moment{};
  EventTime clock;                                // of joins and calls, if lines have stamps
  Timestamp received{};                           // when the following lines arrive
  bool open_ended = false;                        // the logs are streams that have not ended
  bool in_containers = false;                     // each counts its processes itself
  bool print_no_ids = false;                      // as NCCL before 2.16
  std::vector<std::pair<Source, Batch>> applied;  // in order of arrival

 private:
  std::uint64_t pointer(const std::string& communicator) {
    return pointers_.try_emplace(communicator, 0x1000 + pointers_.size()).first->second;
  }
  Batch next(const Source& source) {
    std::uint64_t line = lines_[source.name]++;
    Batch batch;
    batch.from_offset = line * 100;
    batch.to_offset = batch.from_offset + 100;
    batch.first_line = line + 1;
    batch.lines = batch.recognized = 1;
    batch.end = open_ended ? SourceEnd::open : SourceEnd::whole;
    batch.dialects = {{source.name.find("dmesg") == std::string::npos ? "nccl" : "kernel", 1}};
    return batch;
  }
  void apply(const Source& source, const Batch& batch) {
    state.apply(source, batch, received);
    applied.emplace_back(source, batch);
  }

  int generation_ = 0;
  std::map<std::string, std::uint64_t> pointers_;
  std::map<std::string, int> sizes_;
  std::map<std::string, std::uint64_t> lines_;
  std::map<int, std::uint64_t> op_count_;
};

// The classes of the findings, in order.
inline std::vector<std::string> causes(const std::vector<Finding>& findings) {
  std::vector<std::string> all;
  for (const Finding& finding : findings) all.emplace_back(name_of(finding.cause));
  return all;
}

inline std::vector<int> ranks(int from, int to) {
  std::vector<int> all;
  for (int rank = from; rank < to; ++rank) all.push_back(rank);
  return all;
}

inline std::vector<int> all_but(int out, int of) {
  std::vector<int> others;
  for (int rank = 0; rank < of; ++rank)
    if (rank != out) others.push_back(rank);
  return others;
}

// Sixteen ranks on two hosts, in step. Each makes `calls` calls; if `begin` is known they take a
// minute.
inline Job sixteen_ranks(int calls = 10, const EventTime& begin = {}) {
  Job job;
  job.clock = begin;
  job.join_all(16);
  for (auto* part : {&job.clock.wall_us, &job.clock.uptime_us})
    if (*part) **part += 60'000'000;
  job.call(ranks(0, 16), all_reduce(), calls);
  return job;
}

// The actions, one per line.
inline std::string actions_of(const Finding& finding) {
  std::string all;
  for (const Action& action : finding.actions) all += action.what + "\n";
  return all;
}

}  // namespace faultline
