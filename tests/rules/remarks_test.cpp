// What NCCL complains of, from the lines to the diagnosis. The signatures here are few and plain,
// so that these tests are about what is made of a match; the shipped ones have tests of their own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <algorithm>

#include "job.h"
#include "rules/confidence.h"
#include "rules/detectors/remarks/swallowed_errors.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<MessageSignature> some_signatures() {
  auto sign = [](const char* id, const char* cause, const char* title, Severity severity,
                 Weight weight, Blames blames, const char* literal, const char* pattern) {
    MessageSignature signature;
    signature.id = id;
    signature.cause = cause;
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

Diagnosis look(const Job& job) {
  static const Catalog catalog = [] {
    Catalog shipped = load_catalog();
    shipped.signatures = std::make_shared<Signatures>(some_signatures());
    return shipped;
  }();
  return diagnose(job.state, catalog, job.moment);
}

EventTime at(int second) {
  return EventTime::at(Timestamp(std::chrono::seconds(1'800'000'000 + second)));
}

std::string address_of(int host) { return fmt::format("10.0.0.{}", 10 + host); }

// Ranks of `hosts` hosts with eight each, in step, with the addresses that Init lines tell.
Job running_job(int hosts = 2) {
  Job job;
  job.join_all(8 * hosts);
  for (int rank = 0; rank < 8 * hosts; ++rank)
    job.setting(rank, "interface", "bootstrap", fmt::format("eth0:{}<0>", address_of(rank / 8)));
  job.call(ranks(0, 8 * hosts), all_reduce(), 20);
  return job;
}

std::string retry_exceeded(int to_host, const std::string& more = "") {
  return fmt::format(
      "NET/IB: Got completion from peer {}<51544> with status=12 opcode=32698 len=32696 vendor err "
      "129 (Send){}",
      address_of(to_host), more);
}

std::string closed_by(int host, int port = 40000) {
  return fmt::format("socketProgress: Connection closed by remote peer {}<{}>", address_of(host),
                     port);
}

void abort_all(Job& job, int nranks) {
  for (int rank = 0; rank < nranks; ++rank) job.end(rank, "world", CommunicatorEnding::aborted);
}

// --- Two ends
// -------------------------------------------------------------------------------------

TEST(RemarkCauses, OneReportNamesBothEndsAndSaysThatNothingTellsWhich) {
  Job job = running_job();
  job.warn(2,
           retry_exceeded(1, " localGid ::ffff:10.1.1.11 remoteGids::ffff:10.1.1.12 hca mlx5_1"));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-0", "node-1"));
  EXPECT_THAT(finding.subject.ranks, ElementsAre(2));
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-0/mlx5_1"));
  EXPECT_THAT(finding.title, HasSubstr("No answer from node-1 to mlx5_1 on node-0"));
  EXPECT_THAT(finding.title, HasSubstr("only rank 2 on node-0 reports it"));
  EXPECT_LE(finding.confidence, stated_confidence(0.6));
  EXPECT_THAT(finding.evidence.front().text, HasSubstr("Got completion"));
}

TEST(RemarkCauses, ThePeersLineTellsWhichNicTheOtherEndIs) {
  Job job = running_job();
  job.setting(2, "devices", "IB", "mlx5_0:1/RoCE mlx5_1:1/RoCE");
  job.warn(2,
           retry_exceeded(1, " localGid ::ffff:10.1.1.11 remoteGids::ffff:10.1.1.12 hca mlx5_1"));
  job.warn(10,
           retry_exceeded(0, " localGid ::ffff:10.1.1.12 remoteGids::ffff:10.1.1.11 hca mlx5_4"));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-0/mlx5_1:1", "node-1/mlx5_4"));
  EXPECT_THAT(finding.subject.ranks, ElementsAre(2, 10));
  EXPECT_THAT(finding.title, HasSubstr("node-0 and node-1 both report it"));
  EXPECT_THAT(finding.evidence, SizeIs(2));
  EXPECT_LE(finding.confidence, stated_confidence(0.6));
}

TEST(RemarkCauses, AGidTellsThePeerWhereNoLineNamesItsAddress) {
  Job job;
  job.join_all(16);  // no interface lines
  job.warn(2, retry_exceeded(1, " localGid fd00::11 remoteGidsfd00::12 hca mlx5_1"));
  job.warn(10, retry_exceeded(0, " localGid fd00::12 remoteGidsfd00::11 hca mlx5_4"));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0", "node-1"));
}

TEST(RemarkCauses, ANicThatManyCannotReachIsNamedAlone) {
  Job job = running_job(6);
  for (int host = 1; host < 6; ++host)
    job.warn(
        8 * host,
        retry_exceeded(0, fmt::format(" localGid fd00::{} remoteGidsfd00::a1 hca mlx5_3", host)));
  job.warn(3, retry_exceeded(2, " localGid fd00::a1 remoteGidsfd00::2 hca mlx5_1"));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-0"));
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-0/mlx5_1"));
  EXPECT_THAT(finding.subject.ranks, ElementsAre(3));
  EXPECT_THAT(finding.title, HasSubstr("node-0/mlx5_1 is an end of all 5 failed connections"));
  EXPECT_GT(finding.confidence, 0.9);
  EXPECT_EQ(finding.count, 6U);
}

TEST(RemarkCauses, ManyFailuresWithoutACommonEndAccuseNobodyLoudly) {
  Job job = running_job(6);
  for (int host = 0; host < 6; ++host) job.warn(8 * host, retry_exceeded((host + 1) % 6));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, stated_confidence(0.4));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, SizeIs(6));
}

TEST(RemarkCauses, TwoPairsThatShareNothingAreTwoFindings) {
  Job job = running_job(4);
  job.warn(0, retry_exceeded(1));
  job.warn(16, retry_exceeded(3));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes),
              ElementsAre("network.transport_error", "network.transport_error"));
  EXPECT_NE(diagnosis.root_causes[0].subject.hosts, diagnosis.root_causes[1].subject.hosts);
}

TEST(RemarkCauses, AnEndThatNobodyHeardOfIsAskedFor) {
  Job job;
  job.join(0, "world", 0, 16);
  job.setting(0, "interface", "bootstrap", "eth0:10.0.0.10<0>");
  job.warn(0, "socketStartConnect: Connect to 10.0.0.77<39121> failed : No route to host");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.connect_failed"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("10.0.0.77"));
  std::vector<std::string> asked;
  for (const MissingEvidence& missing : diagnosis.missing_evidence) asked.push_back(missing.what);
  EXPECT_THAT(asked, Contains("kernel log of node-0"));
  EXPECT_THAT(asked, Contains(HasSubstr("NCCL log of rank 1 to 15")));
}

// --- The far end is gone
// --------------------------------------------------------------------------

TEST(RemarkCauses, AKilledRankIsNamedAndNotThoseWhoReportIt) {
  Job job = running_job();
  // Rank 11 is killed: it says nothing. Its peers see its connections close, give up, and close
  // theirs.
  for (int rank : {3, 10, 12}) job.warn(rank, closed_by(1));
  for (int rank : {0, 2, 8, 9, 13}) job.warn(rank, closed_by(0));
  for (int rank : {1, 4, 5, 6, 7, 14, 15}) job.warn(rank, closed_by(1));
  for (int rank : all_but(11, 16)) job.end(rank, "world", CommunicatorEnding::aborted);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.peer_lost"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(11));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(finding.title, HasSubstr("rank 11 there says nothing itself"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("process.aborted"));
}

TEST(RemarkCauses, OfSilentRanksTheOneThatIsBehindIsNamed) {
  Job job = running_job();
  job.call(all_but(13, 16), all_reduce());
  job.warn(2, closed_by(1));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.peer_lost"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(13));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
}

TEST(RemarkCauses, APeerThatSaidWhyItDiedExplainsItsClosedConnections) {
  Job job = running_job();
  job.warn(5, "Cuda failure 'an illegal memory access was encountered'");
  for (int rank : {6, 8, 9}) job.warn(rank, closed_by(0));
  job.warn(0, closed_by(1));  // the reporters close theirs
  abort_all(job, 16);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(5));
  EXPECT_THAT(diagnosis.root_causes.front().subject.gpus, ElementsAre("node-0/" + Job::gpu_of(5)));
  EXPECT_THAT(causes(diagnosis.symptoms),
              UnorderedElementsAre("network.peer_lost", "process.aborted"));
}

TEST(RemarkCauses, AnXidExplainsTheConnectionsOfItsRank) {
  Job job = running_job();
  job.xid("node-1", Job::gpu_of(11), 79);
  for (int rank : {3, 10}) job.warn(rank, closed_by(1));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("network.peer_lost"));
}

// --- One part by itself
// ---------------------------------------------------------------------------

TEST(RemarkCauses, AnOutOfMemoryNamesRankHostAndGpu) {
  Job job = running_job();
  job.warn(9, "Cuda failure 'out of memory'");
  job.warn(9, "Cuda failure 2 'out of memory'");
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.title, "Rank 9 ran out of GPU memory on " + Job::gpu_of(9));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_EQ(finding.count, 2U);
  EXPECT_THAT(to_text(diagnosis), HasSubstr("NCCL warn Cuda failure 'out of memory'"));
}

TEST(RemarkCauses, AHelperThreadOfAProcessWithSeveralGpusNamesTheHostAlone) {
  Job job;
  const Source source{"j", "all.log", "", -1};
  for (int device = 0; device < 4; ++device)
    job.say(source, Speaker{"node-0", 77, device, -1},
            CommunicatorInit{.communicator = 0x100U + static_cast<unsigned>(device),
                             .rank = device,
                             .nranks = 4,
                             .cuda_device = device,
                             .gpu = Job::gpu_of(device),
                             .communicator_id = "w",
                             .complete = true},
            "init");
  const Remark oom{.dialect = "nccl", .level = "warn", .text = "Cuda failure 'out of memory'"};
  Job of_helper = job;
  of_helper.say(source, Speaker{"node-0", 77, 0, -1}, oom, "WARN");
  EXPECT_THAT(look(of_helper).root_causes.front().subject.ranks, IsEmpty());
  EXPECT_THAT(look(of_helper).root_causes.front().subject.hosts, ElementsAre("node-0"));
  job.say(source, Speaker{"node-0", 77, 2, -1}, oom, "WARN");
  EXPECT_THAT(look(job).root_causes.front().subject.ranks, ElementsAre(2));
}

TEST(RemarkCauses, ARemarkOfAProcessThatIsNoRankNamesItsHost) {
  Job job = running_job();
  job.say(Source{"j", "extra.log", "", -1}, Speaker{"node-1", 4242, 0, -1},
          Remark{.dialect = "nccl", .level = "warn", .text = "Cuda failure 'out of memory'"},
          "WARN");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, IsEmpty());
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("Rank unknown"));
}

TEST(RemarkCauses, ALauncherNamesTheRankWhereNoInitLineDoes) {
  Job job;
  job.say(Source{"j", "all.log", "", -1}, Speaker{"node-1", 4242, 0, 12},
          Remark{.dialect = "nccl", .level = "warn", .text = "Cuda failure 'out of memory'"},
          "WARN");
  EXPECT_THAT(look(job).root_causes.front().subject.ranks, ElementsAre(12));
}

TEST(RemarkCauses, SharedMemoryIsFullOnOneHost) {
  Job job;
  job.join_all(16);
  for (int rank : {8, 9, 12})
    job.warn(rank, fmt::format("Error: failed to extend /dev/shm/nccl-x{} to 9637892 bytes", rank));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.shm_full"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(diagnosis.root_causes.front().evidence, SizeIs(3));
}

TEST(RemarkCauses, LockedMemoryOfAHostIsOneFindingForAllItsRanks) {
  Job job;
  job.join_all(16);
  for (int rank : ranks(0, 8))
    job.warn(rank, "Call to ibv_reg_mr failed with error Cannot allocate memory");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.limits"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0"));
  EXPECT_EQ(diagnosis.root_causes.front().count, 8U);
}

TEST(RemarkCauses, AHostWithoutAnInterfaceIsNamed) {
  Job job;
  job.join_all(8);
  job.warn(9, "Bootstrap : no socket interface found");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.connect_failed"));
  EXPECT_EQ(diagnosis.root_causes.front().title, "node-1 has no interface for NCCL");
}

TEST(RemarkCauses, VersionsThatDifferAreOneFindingHoweverManyRanksSaySo) {
  Job job;
  job.join_all(16);
  for (int rank : ranks(0, 16))
    job.warn(rank, "Mismatched NCCL version detected : rank 0 version 22703 rank 12 version 22203");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.version_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 12));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0", "node-1"));
}

TEST(RemarkCauses, BothRanksOnOneGpuSayItOfEachOtherAndAreOneFinding) {
  Job job;
  job.join_all(8);
  job.warn(0, "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 43000");
  job.warn(1, "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 43000");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.invalid_usage"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 1));
}

TEST(RemarkCauses, ManyRanksWithOneTroubleAreOneFinding) {
  Job job;
  job.join_all(64);
  for (int rank : ranks(0, 64)) job.warn(rank, "Cuda failure 'out of memory'");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, SizeIs(64));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("and 63 others like it"));
}

TEST(RemarkCauses, TwoHostsWithTroublesOfTheirOwnAreTwoFindings) {
  Job job = running_job(4);
  job.warn(3, "Error: failed to extend /dev/shm/nccl-a to 9637892 bytes");
  job.warn(25, "NET/IB : mlx5_2:1 async fatal event: local catastrophic error");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes),
              UnorderedElementsAre("host.shm_full", "network.nic_failure"));
  for (const Finding& finding : diagnosis.root_causes)
    EXPECT_THAT(finding.subject.hosts, SizeIs(1));
}

TEST(RemarkCauses, AFallbackToSocketsSlowsAndFailsNothing) {
  Job job = running_job();
  for (int rank : ranks(8, 16)) job.remark(rank, "info", "NET/IB : No device found.");
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("config.network_fallback"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
}

// --- Ports
// ----------------------------------------------------------------------------------------

TEST(RemarkCauses, APortThatWentDownExplainsTheRetriesThatFollow) {
  Job job = running_job();
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, retry_exceeded(1, " hca mlx5_1"), at(32));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, ElementsAre("node-0/mlx5_1:1"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(1));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("network.transport_error"));
}

TEST(RemarkCauses, APortThatCameBackWithoutAnErrorIsAFlapAndNoFailure) {
  Job job = running_job();
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port active", at(3));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(causes(diagnosis.observations), ElementsAre("network.link_down"));
  EXPECT_EQ(diagnosis.observations.front().severity, Severity::warning);
}

TEST(RemarkCauses, AnotherPortThatComesUpDoesNotExcuseTheOneThatIsDown) {
  Job job = running_job();
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, "NET/IB : mlx5_2:1 Got async error event: port active", at(3));
  EXPECT_THAT(causes(look(job).root_causes), ElementsAre("network.link_down"));
}

// --- First things first
// ---------------------------------------------------------------------------

TEST(RemarkCauses, InOneProcessTheFirstWarningIsTheCauseAndTheRestFollows) {
  Job job = running_job();
  job.warn(4, "Cuda failure 'an illegal memory access was encountered'");
  job.warn(4, "Cuda failure 'out of memory'");
  job.warn(4, closed_by(1));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault"));
  EXPECT_THAT(causes(diagnosis.symptoms), Each(testing::AnyOf("nccl.error", "network.peer_lost")));
}

TEST(RemarkCauses, AcrossHostsTheEarlierOneComesFirst) {
  for (int first : {3, 12}) {
    Job job = running_job();
    for (int rank : {3, 12})
      job.warn(rank, "Cuda failure 'an illegal memory access was encountered'",
               at(rank == first ? 0 : 90));
    const Diagnosis diagnosis = look(job);
    ASSERT_FALSE(diagnosis.root_causes.empty());
    EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(first));
  }
}

TEST(RemarkCauses, WarningsAfterTheProcessWasAbortedAreNoCause) {
  Job job = running_job();
  job.warn(9, "Cuda failure 'out of memory'");
  abort_all(job, 16);
  job.warn(2, retry_exceeded(1));
  const Diagnosis diagnosis = look(job);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
}

// --- What says nothing by itself
// ------------------------------------------------------------------

TEST(RemarkSymptoms, EchoesAloneDoNotTellWhatHappenedAndTheRestIsAskedFor) {
  Job job = running_job();
  for (int rank : {2, 3, 9})
    job.warn(rank, fmt::format("Socket recv failed while polling for opId=0x7f{:06x}", rank));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("nccl.error"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, stated_confidence(0.3));
  EXPECT_THAT(diagnosis.missing_evidence.front().what, HasSubstr("NCCL log of every rank"));
}

TEST(RemarkSymptoms, AnEchoBesideACauseIsItsSymptom) {
  Job job = running_job();
  job.warn(2, "NET/IB: Got completion from peer 10.0.0.11<33210> with status=5 opcode=32594 len=0");
  job.warn(9, retry_exceeded(0));
  const Diagnosis diagnosis = look(job);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("nccl.error"));
}

TEST(RemarkCauses, TwoOfOneClassAndSubjectAreOneFinding) {
  // Pasted without hosts: nothing tells the two apart but their words.
  Job job;
  for (const char* text :
       {"Bootstrap : no socket interface found",
        "socketStartConnect: Connect to 172.17.0.1<39275> failed : No route to host"})
    job.say({"j", "pasted.log", "", -1}, Speaker{},
            Remark{.dialect = "nccl", .level = "warn", .place = "", .function = "", .text = text},
            text);
  const Diagnosis diagnosis = job.diagnosis();
  std::set<std::string> ids;
  for (const Finding& finding : findings_of(diagnosis)) EXPECT_TRUE(ids.insert(finding.id).second);
  EXPECT_FALSE(ids.empty());
}

TEST(RemarkSymptoms, WarningsBeforeACleanEndLeaveTheJobHealthy) {
  Job job = running_job();
  for (int rank : ranks(0, 16)) {
    job.warn(rank, "socketTryAccept: Accept failed: Interrupted");
    job.warn(rank, "Could not receive type from localRank");
    job.warn(rank, "Socket recv failed while polling for opId=0x7f0011223344");
    job.warn(rank, closed_by(1 - rank / 8));
    job.back_trace(rank, "misc/socket.cc:752", 3);
    job.end(rank, "world", CommunicatorEnding::destroyed);
  }
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

TEST(RemarkSymptoms, ARankThatEndedCleanlyIsNotExcusedForWhatItDidToOthers) {
  Job job = running_job();
  job.warn(4, "Cuda failure 'out of memory'");
  job.end(4, "world", CommunicatorEnding::destroyed);  // its program cleans up before it exits
  for (int rank : all_but(4, 16)) job.end(rank, "world", CommunicatorEnding::aborted);
  EXPECT_THAT(causes(look(job).root_causes), ElementsAre("software.cuda_oom"));
}

TEST(RemarkSymptoms, AnUnknownWarningInAJobThatGoesOnIsNoFailure) {
  Job job = running_job();
  job.warn(4, "something that no signature knows");
  job.call(ranks(0, 16), all_reduce(), 5);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("nccl.error"));
  EXPECT_THAT(diagnosis.observations.front().title, HasSubstr("something that no signature knows"));
}

TEST(RemarkSymptoms, AnUnknownWarningThatReturnedAnErrorIsShown) {
  Job job = running_job();
  job.warn(4, "something that no signature knows");
  job.back_trace(4, "init.cc:1300", 3);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("nccl.error"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "NCCL warned rank 4 on node-0: something that no signature knows");
  EXPECT_LE(diagnosis.root_causes.front().confidence, stated_confidence(0.4));
}

TEST(RemarkSymptoms, AnUnknownWarningOfARankThatIsBehindStandsBesideIt) {
  Job job = running_job();
  job.warn(4, "something that no signature knows");
  job.call(all_but(4, 16), all_reduce());
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("nccl.error"));
}

TEST(RemarkSymptoms, AbortsWithoutAnythingElseAreHowSomeFrameworksEnd) {
  Job job = running_job();
  abort_all(job, 16);
  EXPECT_EQ(look(job).verdict, Verdict::healthy);
}

// --- Errors that reach nobody
// ---------------------------------------------------------------------

TEST(RemarkCauses, VersionsThatSwallowErrorsHangWhereOthersFail) {
  for (const auto& [version, verdict] :
       std::map<std::string, Verdict>{{"2.18.3+cuda12.1", Verdict::hang},
                                      {"2.21.5+cuda12.4", Verdict::failed},
                                      {"2.26.2+cuda12.8", Verdict::hang},
                                      {"2.27.7+cuda12.8", Verdict::hang},
                                      {"2.28.3+cuda13.0", Verdict::failed}}) {
    Job job = running_job();
    job.setting(0, "version", "nccl", version);  // rank 0 prints it for all
    job.warn(9, retry_exceeded(0));
    EXPECT_EQ(look(job).verdict, verdict) << version;
  }
}

TEST(RemarkCauses, ASwallowedErrorHangsTheJobAlsoWhereAPortExplainsIt) {
  Job job = running_job();
  job.setting(0, "version", "nccl", "2.27.7+cuda12.8");
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, retry_exceeded(1, " hca mlx5_1"), at(32));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
}

TEST(RemarkCauses, OnlyErrorsOfTransfersAreSwallowed) {
  Job job = running_job();
  job.setting(0, "version", "nccl", "2.27.7+cuda12.8");
  job.warn(9, "Cuda failure 'out of memory'");
  EXPECT_EQ(look(job).verdict, Verdict::failed);
}

TEST(RemarkCauses, VersionsAreComparedByNumber) {
  EXPECT_TRUE(swallows_transfer_errors("2.18.1"));
  EXPECT_TRUE(swallows_transfer_errors("2.27.3+cuda12.9"));
  EXPECT_FALSE(swallows_transfer_errors("2.18.0"));
  EXPECT_FALSE(swallows_transfer_errors("2.3.7"));
  EXPECT_FALSE(swallows_transfer_errors("2.30.7"));
  EXPECT_FALSE(swallows_transfer_errors(""));
  EXPECT_FALSE(swallows_transfer_errors("a word"));
}

// --- Size
// -----------------------------------------------------------------------------------------

TEST(RemarkCauses, AStormOfWarningsIsOneFindingWithItsCount) {
  Job job = running_job();
  for (int i = 0; i < 100'000; ++i) job.warn(9, closed_by(0, 1024 + i % 60000));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.peer_lost"));
  EXPECT_EQ(diagnosis.root_causes.front().count, 100'000U);
  EXPECT_THAT(diagnosis.root_causes.front().evidence, SizeIs(1));
}

}  // namespace
}  // namespace faultline
