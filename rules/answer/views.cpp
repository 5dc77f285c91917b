#include "model/views.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rules/answer/diagnosis.h"
#include "rules/answer/process_groups.h"
#include "rules/answer/start_views.h"
#include "rules/answer/telling.h"
#include "rules/picture/view.h"

namespace faultline {
namespace {

// Views are read without a catalog: what the hardware reported is in the diagnosis.
struct Standings {
  Standings(const JobState& job, int attempt) : view(job, catalog, moment, attempt) {}
  Catalog catalog;
  Moment moment{};
  View view;
};

std::string last_call_of(const View& view, const Member& member) {
  if (member.place.position == 0) return {};
  const Progress& progress = view.job.progress();
  return to_text(
      progress.signature(progress.history().call_at(member.place, member.place.position - 1)));
}

StandingView standing_of(const View& view, std::size_t index, const AlignedPlace& place) {
  const Member& member = view.member(index);
  StandingView standing;
  if (place.alignment != nullptr) {
    standing.communicator = view.communicators[place.alignment->communicator].id;
    standing.behind = place.lacks();
  }
  standing.rank = member.init ? member.init->rank : -1;
  standing.position = member.place.position;
  standing.point_to_point = member.point_to_point;
  if (member.first_op_count) standing.op_count = member.last_op_count;
  standing.last_call = last_call_of(view, member);
  if (member.last_line.known()) standing.last_line = view.evidence(member.last_line);
  return standing;
}

// The members that called something else than most members of their communicator.
std::set<std::size_t> members_that_diverged(const View& view) {
  std::set<std::size_t> odd;
  for (const Alignment& alignment : view.alignments) {
    if (!alignment.divergence) continue;
    std::size_t largest = 0;
    for (const auto& [call, camp] : alignment.divergence->camps)
      largest = std::max(largest, camp.size());
    for (const auto& [call, camp] : alignment.divergence->camps)
      if (camp.size() < largest) odd.insert(camp.begin(), camp.end());
  }
  return odd;
}

using GpuUuids = std::map<std::pair<std::string, std::string>, std::string>;  // by host and GPU

GpuUuids uuids_of(const JobState& job) {
  GpuUuids uuids;
  for (const Hardware::Gpu& known : job.hardware().gpus())
    if (!known.uuid.empty())
      uuids.try_emplace({job.host_of(known.spoken_host, known.source), known.gpu}, known.uuid);
  return uuids;
}

}  // namespace

JobOverview overview_of(const JobState& job, const Diagnosis& diagnosis) {
  JobOverview overview{.job = job.name(),
                       .verdict = diagnosis.verdict,
                       .ranks_expected = diagnosis.ranks.expected,
                       .ranks_seen = diagnosis.ranks.seen,
                       .attempts = diagnosis.attempts,
                       .last_activity = job.last_activity()};
  if (const Finding* first = causes_of(diagnosis).first()) {
    overview.cause = first->title;
    overview.confidence = first->confidence;
  }
  overview.since = trouble_since(diagnosis);
  return overview;
}

JobDetail detail_of(const JobState& job, const Diagnosis& diagnosis) {
  Standings standings(job, diagnosis.attempt);
  const View& view = standings.view;
  JobDetail detail;
  detail.overview = overview_of(job, diagnosis);
  detail.hosts = {job.sources().hosts().begin(), job.sources().hosts().end()};
  std::set<std::pair<std::string, std::string>> listed;
  const GpuUuids uuids = uuids_of(job);
  const auto uuid_of = [&](const std::string& host, const std::string& gpu) {
    const auto known = uuids.find({host, gpu});
    return known == uuids.end() ? std::string() : known->second;
  };
  for (const Worker& worker : view.workers.all) {
    if (worker.gpu.empty() || !listed.emplace(worker.host, worker.gpu).second) continue;
    detail.gpus.push_back({worker.host, worker.gpu, uuid_of(worker.host, worker.gpu),
                           worker.rank >= 0 ? std::optional(worker.rank) : std::nullopt});
  }
  for (const XidIncident& incident : job.hardware().xids()) {
    std::string host = job.host_of(incident.spoken_host, incident.source);
    if (listed.emplace(host, incident.gpu).second)
      detail.gpus.push_back({host, incident.gpu, uuid_of(host, incident.gpu), std::nullopt});
  }
  for (const Alignment& alignment : view.alignments) {
    const Communicator& communicator = view.communicators[alignment.communicator];
    detail.communicators.push_back({communicator.id, communicator.nranks,
                                    static_cast<int>(communicator.members.size()),
                                    alignment.furthest, alignment.slowest, communicator.matched});
  }
  for (const NamedGroup& group : named_groups(job.flight()))
    detail.process_groups.push_back(
        {group.id, static_cast<int>(job.flight().groups()[group.places.group].members.size()),
         static_cast<int>(group.places.places.size())});
  for (std::uint32_t i = 0; i < job.sources().all().size(); ++i) {
    const SourceState& source = job.sources().at(i);
    detail.sources.push_back({source.source.name, job.sources().host_of(i), source.bytes,
                              source.lines, source.recognized});
  }
  std::ranges::sort(detail.sources, {}, &SourceView::name);  // not by who came first
  describe_start(view, detail);
  return detail;
}

std::vector<RankView> ranks_of(const JobState& job, const Diagnosis& diagnosis) {
  Standings standings(job, diagnosis.attempt);
  const View& view = standings.view;
  const std::set<std::size_t> diverged = members_that_diverged(view);
  const std::set<int> behind(diagnosis.ranks.behind.begin(), diagnosis.ranks.behind.end());
  std::vector<RankView> ranks;
  for (const Worker& worker : view.workers.all) {
    RankView& rank = ranks.emplace_back();
    rank.rank = worker.rank;
    rank.host = worker.host;
    rank.pid = worker.pid;
    rank.gpu = worker.gpu;
    bool comparable = false;
    bool odd = false;
    for (std::size_t member : worker.members) {
      const Alignment* alignment = view.places[member].alignment;
      comparable |= alignment != nullptr && alignment->members.size() > 1;
      odd |= diverged.contains(member);
      rank.standings.push_back(standing_of(view, member, view.places[member]));
    }
    const bool waited_for = behind.contains(worker.rank);
    rank.state = odd                              ? "diverged"
                 : waited_for && worker.rank >= 0 ? "behind"
                 : comparable                     ? "in_step"
                                                  : "unknown";
  }
  return ranks;
}

}  // namespace faultline
