// Jobs whose ranks complain, and a few plain signatures that know the complaints, so that tests
// check what follows from a match. The shipped signatures have tests of their own.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "job.h"
#include "seconds.h"

namespace faultline {

inline std::vector<MessageSignature> some_signatures() {
  auto sign = [](const char* id, const char* cause, const char* title, Severity severity,
                 Weight weight, Blames blames, const char* literal, const char* pattern) {
    MessageSignature signature;
    signature.id = id;
    signature.cause = cause_named(cause);
    signature.title = title;
    signature.severity = severity;
    signature.weight = weight;
    signature.blames = blames;
    signature.dialect = "nccl";
    signature.literals = {literal};
    signature.pattern = pattern;
    return signature;
  };
  using enum Severity;
  return {
      sign("ib.retry", "network.transport_error", "No answer from {peer} to {device} on {host}",
           critical, Weight::cause, Blames::pair, "Got completion",
           "from peer (?P<peer>\\S+) with status=(?P<status>12)\\b(?:.*?localGid "
           "(?P<local_gid>\\S+))?(?:.*?remoteGids?(?P<remote_gid>\\S+))?(?:.*?hca "
           "(?P<device>\\S+))?"),
      sign("ib.flush", "nccl.error", "Requests to {peer} were flushed on {host}", error,
           Weight::echo, Blames::peer, "Got completion",
           "from peer (?P<peer>\\S+) with status=5\\b(?:.*?localGid (?P<local_gid>\\S+))?"
           "(?:.*?remoteGids?(?P<remote_gid>\\S+))?(?:.*?hca (?P<device>\\S+))?"),
      sign("ib.port_error", "network.link_down", "Port {device} of {host} went down", error,
           Weight::cause, Blames::nic, "port error",
           "(?P<device>\\w+):(?P<port>\\d+) Got async .*port error"),
      sign("ib.port_active", "network.link_down", "Port {device} of {host} came up", info,
           Weight::harmless, Blames::nic, "port active", "port active"),
      sign("ib.fatal", "network.nic_failure", "NIC {device} of {host} failed", critical,
           Weight::cause, Blames::nic, "async fatal event",
           "(?P<device>\\w+):(?P<port>\\d+) async fatal event"),
      sign("closed", "network.peer_lost", "Connection closed by {peer}", error, Weight::cause,
           Blames::peer, "closed by remote peer", "closed by remote peer (?P<peer>\\S+)"),
      sign("polling", "nccl.error", "Rank {rank} lost its proxy", error, Weight::echo,
           Blames::process, "while polling", "Socket recv failed while polling"),
      sign("accept", "nccl.error", "A connection was not accepted", info, Weight::harmless,
           Blames::process, "Accept failed", "Accept failed"),
      sign("oom", "software.cuda_oom", "Rank {rank} ran out of GPU memory on {gpu}", critical,
           Weight::cause, Blames::process, "out of memory", "Cuda failure.*out of memory"),
      sign("illegal", "software.gpu_memory_fault", "Rank {rank} made an illegal access", critical,
           Weight::cause, Blames::process, "illegal memory access", "illegal memory access"),
      sign("shm", "host.shm_full", "/dev/shm of {host} is full", critical, Weight::cause,
           Blames::host, "failed to extend", "failed to extend (?P<file>\\S+)"),
      sign("memlock", "host.limits", "Locked memory is limited on {host}", critical, Weight::cause,
           Blames::host, "Cannot allocate memory", "Call to ibv_\\w+ failed.*Cannot allocate"),
      sign("no_interface", "launch.connect_failed", "{host} has no interface for NCCL", critical,
           Weight::cause, Blames::host, "no socket interface", "no socket interface found"),
      sign("version", "software.version_mismatch", "Ranks {rank_a} and {rank_b} differ in NCCL",
           critical, Weight::cause, Blames::process, "Mismatched NCCL version",
           "rank (?P<rank_a>\\d+) version \\d+ rank (?P<rank_b>\\d+) version"),
      sign("duplicate", "software.invalid_usage", "Ranks {rank_a} and {rank_b} share a GPU",
           critical, Weight::cause, Blames::process, "Duplicate GPU",
           "rank (?P<rank_a>\\d+) and rank (?P<rank_b>\\d+) both"),
      sign("connect", "launch.connect_failed", "{host} cannot connect to {peer}", critical,
           Weight::cause, Blames::pair, "Connect to",
           "Connect to (?P<peer>\\S+) (?:failed|returned)"),
      sign("no_ib", "config.network_fallback", "{host} uses sockets", warning, Weight::cause,
           Blames::host, "No device found", "NET/IB : No device found"),
  };
}

inline Diagnosis look(const Job& job) {
  static const Catalog catalog = [] {
    Catalog shipped = load_catalog();
    shipped.signatures = std::make_shared<Signatures>(some_signatures());
    return shipped;
  }();
  return diagnose(job.state, catalog, job.moment);
}

inline std::string address_of(int host) { return fmt::format("10.0.0.{}", 10 + host); }

// Ranks on `hosts` hosts with eight each, in step, with the addresses from Init lines.
inline Job hosts_of_eight(int hosts = 2) {
  Job job;
  job.join_all(8 * hosts);
  for (int rank = 0; rank < 8 * hosts; ++rank)
    job.setting(rank, "interface", "bootstrap", fmt::format("eth0:{}<0>", address_of(rank / 8)));
  job.call(ranks(0, 8 * hosts), all_reduce(), 20);
  return job;
}

inline std::string retry_exceeded(int to_host, const std::string& more = "") {
  return fmt::format(
      "NET/IB: Got completion from peer {}<51544> with status=12 opcode=32698 len=32696 vendor err "
      "129 (Send){}",
      address_of(to_host), more);
}

inline std::string closed_by(int host, int port = 40000) {
  return fmt::format("socketProgress: Connection closed by remote peer {}<{}>", address_of(host),
                     port);
}

inline void abort_all(Job& job, int nranks) {
  for (int rank = 0; rank < nranks; ++rank) job.end(rank, "world", CommunicatorEnding::aborted);
}

}  // namespace faultline
