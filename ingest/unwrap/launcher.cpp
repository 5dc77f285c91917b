#include "ingest/unwrap/launcher.h"

#include <algorithm>

#include "ingest/unwrap/framed.h"
#include "ingest/unwrap/kernel.h"
#include "ingest/unwrap/month_names.h"
#include "ingest/unwrap/nccl_prefix.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"
#include "ingest/unwrap/syslog.h"
#include "model/path_names.h"
#include "model/pci_address.h"
#include "parsers/tool/tool_words.h"

namespace faultline {

namespace {

// More ranks than any job has; a longer number is something else.
constexpr std::size_t kMaxRankDigits = 6;

// Names of actors are class names; a longer parenthesis is prose.
constexpr std::size_t kMaxActorBytes = 256;

void label_with_rank(Peeled& line, std::int64_t rank, std::string_view rest) {
  line.rank = static_cast<int>(rank);
  line.labelled = true;
  line.text = rest;
}

// "<stdout>:"
bool take_stream(std::string_view& rest) {
  return take(rest, "<stdout>:") || take(rest, "<stderr>:") || take(rest, "<stddiag>:");
}

// "[1,5]<stdout>:" or "[prterun-node7-123@1,5]<stdout>:", "[5]<stdout>:" of horovodrun
bool take_open_mpi_tag(std::string_view& rest, std::int64_t& rank) {
  std::string_view text = rest;
  std::int64_t job = 0;
  if (!take(text, '[')) return false;
  if (std::string_view named = text; !take_while(named, is_name).empty() && take(named, '@'))
    text = named;
  if (!take_number(text, job)) return false;
  std::int64_t told = job;
  if (take(text, ',') && !take_number(text, told, kMaxRankDigits)) return false;
  if (!take(text, ']') || !take_stream(text)) return false;
  rank = told;
  rest = text;
  return true;
}

// "NVRM: Xid ..." and "mlx5_core 0000:3b:00.0: ...": a kernel's line whose stamp was left out.
bool begins_like_the_kernel(std::string_view text) {
  if (text.starts_with("NVRM: ")) return true;
  const std::string_view driver = take_while(text, is_name);
  if (driver.empty() || !take(text, ' ')) return false;
  return normal_pci(text.substr(0, text.find(": "))).has_value();
}

// Whether text is what stands behind a label, rather than a sentence that began with a word and a
// colon ("nvidia-nvswitch2: SXid ...").
bool stands_behind_a_label(std::string_view text) {
  Peeled trial;
  trial.text = text;
  std::string_view rest = text;
  return starts_like_nccl(text) || begins_like_the_kernel(text) || peel_torch_label(trial) ||
         peel_hydra(trial) || peel_open_mpi(trial) || peel_ray(trial) || peel_kernel_stamp(trial) ||
         take_iso_stamp(rest) ||
         (may_begin_with_month(text) && peel_bsd_syslog(trial, Timestamp{})) ||
         (peel_srun_label(trial) && peel_torch_label(trial));
}

// eth0: <BROADCAST,UP> mtu 9000 of `ip link`, which numbers the interfaces.
bool names_interface(std::string_view text) {
  const std::size_t end = text.find(": <");
  return end != std::string_view::npos && end > 0 &&
         text.substr(0, end).find_first_of(" \t:") == std::string_view::npos;
}

bool is_level(std::string_view name) {
  for (const std::string_view level :
       {"ERROR", "WARN", "WARNING", "INFO", "DEBUG", "FATAL", "CRITICAL", "NOTICE"})
    if (name == level) return true;
  return false;
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

// "Worker_TP11", "Worker_TP3_EP3", "VllmWorker TP0", "VllmWorker rank=5" of vLLM: the rank, if the
// engine has neither stages of a pipeline nor copies. -1: it is no such name.
int rank_in_engine(std::string_view actor) {
  if (!take(actor, "Worker_TP") && !take(actor, "VllmWorker TP") &&
      !take(actor, "VllmWorker rank="))
    return -1;
  std::int64_t rank = 0;
  if (!take_number(actor, rank, kMaxRankDigits)) return -1;
  return actor.starts_with(' ') || actor.starts_with("_EP") ? static_cast<int>(rank) : -1;
}

// Ray prints a line once, and later how many other processes said the same.
void take_off_ray_count(Peeled& line) {
  constexpr std::string_view kBefore = " [repeated ";
  const std::size_t begin = line.text.rfind(kBefore);
  if (begin == std::string_view::npos) return;
  std::string_view rest = line.text.substr(begin + kBefore.size());
  std::int64_t times = 0;
  if (!take_number(rest, times) || !take(rest, "x across cluster]")) return;
  line.text = line.text.substr(0, begin);
  line.repeat(times);
}

}  // namespace

bool peel_ray(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, '(')) return false;
  const std::size_t end = rest.substr(0, kMaxActorBytes).find(')');
  if (end == std::string_view::npos) return false;
  const std::string_view actor = rest.substr(0, end);
  const std::size_t pid = actor.find("pid=");
  if (pid == std::string_view::npos || (pid > 0 && actor[pid - 1] != ' ')) return false;
  std::string_view after_pid = actor.substr(pid + 4);
  std::int64_t number = 0;
  if (!take_number(after_pid, number) || (!after_pid.empty() && after_pid.front() != ','))
    return false;
  rest.remove_prefix(end + 1);
  if (!rest.empty() && !take(rest, ' ')) return false;
  if (const int of_engine = rank_in_engine(actor); of_engine >= 0) line.rank = of_engine;
  line.pid = number;
  // The address says on which node it ran, but is not the name that other sources give that node.
  line.text = rest;
  line.labelled = true;
  take_off_ray_count(line);
  return true;
}

bool peel_open_mpi(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t rank = 0;
  if (!take_open_mpi_tag(rest, rank)) return false;
  label_with_rank(line, rank, rest);
  return true;
}

bool peel_open_mpi_pieces(Peeled& line, TextPool& pool) {
  const std::string_view whole = line.text;
  if (!peel_open_mpi(line)) return false;
  const std::string_view tag = whole.substr(0, whole.size() - line.text.size());
  std::size_t at = line.text.find(tag);
  if (at == std::string_view::npos) return true;
  const std::span<char> room = pool.room(line.text.size());
  auto end = room.begin();
  std::string_view rest = line.text;
  for (; at != std::string_view::npos; at = rest.find(tag)) {
    end = std::ranges::copy(rest.substr(0, at), end).out;
    rest.remove_prefix(at + tag.size());
  }
  end = std::ranges::copy(rest, end).out;
  line.text = {room.data(), static_cast<std::size_t>(end - room.begin())};
  return true;
}

bool peel_open_mpi_stamp(Peeled& line) {
  std::string_view rest = line.text;
  const auto stamp = take_ctime_stamp(rest);
  if (!stamp) return false;
  take(rest, ' ');
  std::int64_t rank = line.rank;
  if (!take_open_mpi_tag(rest, rank) && !take_stream(rest)) return false;
  line.stamped(*stamp);
  label_with_rank(line, rank, rest);
  return true;
}

bool peel_mpich_error(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t rank = 0;
  if (!take(rest, "MPICH ERROR [Rank ") || !take_number(rest, rank, kMaxRankDigits) ||
      !take(rest, "] [job id "))
    return false;
  take_while(rest, [](char c) { return c != ']'; });
  if (!take(rest, "] [")) return false;
  const auto stamp = take_ctime_stamp(rest);
  if (!stamp || !take(rest, "] [")) return false;
  const std::string_view host = take_while(rest, is_name);
  if (host.empty() || !take(rest, "] - ")) return false;
  line.stamped(*stamp);
  line.named_by_host(host);
  label_with_rank(line, rank, rest);
  return true;
}

bool peel_mpi_abort(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t number = 0;
  if (!take(rest, "Abort(")) return false;
  take(rest, '-');
  if (!take_number(rest, number) || !take(rest, ") ")) return false;
  if (take(rest, "on node ") && (!take_number(rest, number) || !take(rest, ' '))) return false;
  std::int64_t rank = 0;
  if (!take(rest, "(rank ") || !take_number(rest, rank, kMaxRankDigits) ||
      !take(rest, " in comm 0): "))
    return false;
  label_with_rank(line, rank, rest);
  return true;
}

bool peel_torch_label(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, '[')) return false;
  const std::string_view role =
      take_while(rest, [](char c) { return is_letter(c) || c == '_' || c == '-'; });
  std::int64_t number = 0;
  if (role.empty() || !take_number(rest, number, kMaxRankDigits) || !take(rest, "]:")) return false;
  take(rest, ' ');
  // Any other role counts local ranks: then torchrun was started once on each node, so an outer
  // label counts nodes and is no rank.
  label_with_rank(line, role == "rank" ? number : -1, rest);
  return true;
}

bool peel_hydra(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t rank = 0;
  if (!take(rest, '[') || !take_number(rest, rank, kMaxRankDigits) || !take(rest, "] "))
    return false;
  const bool nccl = starts_with_nccl_speaker(rest) || rest.starts_with("NCCL version ");
  if (!nccl && !rest.starts_with("[rank")) return false;
  label_with_rank(line, rank, rest);
  return true;
}

bool peel_srun_label(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t rank = 0;
  take_blanks(rest);
  if (line.labelled || !take_number(rest, rank, kMaxRankDigits) || !take(rest, ": ") ||
      names_interface(rest))
    return false;
  label_with_rank(line, rank, rest);
  return true;
}

bool peel_handmade(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t number = 0;
  if (take(rest, "RANK")) {
    if (!take_number(rest, number, kMaxRankDigits) || !take(rest, ": ")) return false;
    label_with_rank(line, number, rest);
    return true;
  }
  if (!take(rest, "Node ") || !take_number(rest, number, kMaxRankDigits) || !take(rest, ": ") ||
      !stands_behind_a_label(rest))
    return false;
  line.text = rest;
  return true;
}

bool peel_line_number(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t number = 0;
  if (!take_number(rest, number, 6)) return false;
  take(rest, ':');
  if (take_blanks(rest) < 2) return false;
  constexpr std::string_view kTags[] = {"srun: ", "slurmstepd: ", "Traceback (most recent"};
  if (!begins_a_line(rest) &&
      std::ranges::none_of(kTags, [&](std::string_view tag) { return rest.starts_with(tag); }))
    return false;
  line.text = rest;
  return true;
}

// job.out, logs/node-7.log, /var/log/syslog: whether a path is that of a log, not of source code.
bool is_of_a_log(std::string_view path) {
  constexpr std::string_view kEnds[] = {".log",    ".txt",   ".out",     ".err", ".stdout",
                                        ".stderr", "syslog", "messages", "dmesg"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return path.ends_with(end); });
}

// Takes rank and host from the path of the file, if the line does not name them.
void name_by_path(Peeled& line, std::string_view path, bool is_one_name) {
  if (const int rank = rank_by_file_name(path).rank; rank >= 0) {
    if (!line.labelled) line.rank = rank;
    if (is_one_name) return;
  }
  const std::string host = host_by_its_words(path);
  if (!host.empty())
    line.named_by_label(path.substr(path.find(host), host.size()));
  else if (is_one_name && may_be_a_host(path))
    line.named_by_label(path);
}

bool peel_grep(Peeled& line) {
  constexpr std::size_t kMostOfAPath = 255;
  std::string_view rest = line.text;
  const std::string_view path =
      take_while(rest, [](char c) { return is_name(c) || c == '/' || c == '+' || c == '='; });
  if (path.empty() || path.size() > kMostOfAPath || !take(rest, ':')) return false;
  const bool is_number = std::ranges::all_of(path, is_digit);
  const bool has_letter = std::ranges::any_of(path, is_letter);
  const bool is_path = has_letter && path.find_first_of("./") != std::string_view::npos;
  // A file with the name of its host.
  const bool is_one_name = has_letter && !is_path && has_digit(path) && !is_device(path);
  if (!is_number && !is_path && !is_one_name) return false;
  std::string_view behind = rest;
  std::int64_t number = 0;
  const bool is_numbered = !is_number && take_number(behind, number, 9) && take(behind, ':');
  if (is_numbered) rest = behind;
  const bool begins = (!is_one_name || rest.starts_with('[')) && begins_a_line(rest);
  if (!(is_numbered && is_of_a_log(path)) && !begins) return false;
  if (!is_number) name_by_path(line, path, is_one_name);
  line.text = rest;
  return true;
}

bool is_device(std::string_view name) {
  return name.find('-') == std::string_view::npos &&
         (is_network_interface(name) || is_rdma_device(name));
}

// "12a | 03/05/2026 | 02:47:10 | Memory #0x53 | ...": management controllers count in hexadecimal.
bool is_record_of_a_bmc(std::string_view text) {
  std::int64_t number = 0;
  return take_number(text, number, 2) && take(text, '/') && take_number(text, number, 2) &&
         take(text, '/') && take_number(text, number, 4) && take(text, " | ");
}

bool peel_host_label(Peeled& line) {
  std::string_view rest = line.text;
  const std::string_view name = take_while(rest, is_name);
  // "DistBackendError: NCCL error in: ..." and "ERROR: ..." name no host.
  if (name.empty() || name.ends_with("Error") || is_level(name) || is_device(name)) return false;
  if (take(rest, ": ")) {
    // NCCL begins a warning with a line break, so a label may stand alone. A word without digits
    // may be the end of a word that was broken between two rows.
    if (!has_digit(name) && (rest.empty() || rest.front() == '[')) return false;
    if (!rest.empty() && !stands_behind_a_label(rest)) return false;
  } else {
    if (take_blanks(rest) == 0 || !take(rest, '|')) return false;
    if (!rest.empty() && !take(rest, ' ')) return false;
    // A bare number is the number of a row.
    if (std::ranges::none_of(name, is_letter) || is_record_of_a_bmc(rest)) return false;
    if (!has_digit(name) && !stands_behind_a_label(rest)) return false;
  }
  // "kernel: NVRM: …", cut out of a syslog's line, names no host.
  if (name == "kernel")
    line.in_kernel = true;
  else
    line.named_by_label(name);
  line.text = rest;
  return true;
}

bool peel_kubectl_prefix(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, "[pod/")) return false;
  const std::string_view pod = take_while(rest, is_name);
  // Viewers of logs leave the container out.
  const bool alone = pod.empty() || !take(rest, '/');
  if (pod.empty() || (!alone && take_while(rest, is_name).empty()) || !take(rest, ']'))
    return false;
  take(rest, ' ');
  line.named_by_label(pod);
  line.text = rest;
  return true;
}

}  // namespace faultline
