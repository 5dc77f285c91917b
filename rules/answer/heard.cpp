#include "rules/answer/heard.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "rules/detect/performance/training.h"
#include "rules/picture/view.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

constexpr std::int64_t kLatestUs = 253'402'300'800'000'000;  // the year 10000
constexpr int kMostExpected = 1 << 17;                       // a line may claim two billion

std::optional<Stamp> stamp_of(const EventTime& time) {
  if (!time.wall_us) return std::nullopt;
  return Stamp{.time = Timestamp(std::chrono::microseconds(*time.wall_us)),
               .open = std::chrono::microseconds(std::max<std::int64_t>(time.uncertainty_us, 0)),
               .zone_assumed = time.zone_assumed};
}

void hear(const Stamp& stamp, std::optional<Stamp>& first, std::optional<Stamp>& last) {
  if (!first || stamp.time < first->time) first = stamp;
  if (!last || stamp.time + stamp.open > last->time + last->open) last = stamp;
}

void hear(const EventTime& time, HeardRank& rank) {
  const std::optional<Stamp> stamp = stamp_of(time);
  if (!stamp) return;
  hear(*stamp, rank.first, rank.last);
  if (!stamp->zone_assumed) hear(*stamp, rank.firm_first, rank.firm_last);
}

class Listening {
 public:
  Listening(const JobState& job, int attempt)
      : view_(job, catalog_, moment_, attempt), told_(view_.workers.all.size()) {
    for (std::size_t i = 0; i < told_.size(); ++i) {
      told_[i].rank = view_.workers.all[i].rank;
      told_[i].host = view_.workers.all[i].host;
      if (told_[i].rank >= 0) of_rank_.emplace(told_[i].rank, i);
    }
    hear_nccl();
    hear_torch();
    hear_flight();
    hear_steps();
    for (const int rank : view_.roll.heard) of(rank);
  }

  Heard told(const Diagnosis& diagnosis) {
    Heard heard{.ranks = std::move(told_)};
    std::ranges::stable_sort(heard.ranks, {}, &HeardRank::rank);
    if (view_.roll.all_named && diagnosis.ranks.expected <= kMostExpected &&
        std::ranges::none_of(heard.ranks, [](const HeardRank& it) { return it.rank < 0; }))
      for (int rank = 0; rank < diagnosis.ranks.expected; ++rank)
        if (!of_rank_.contains(rank)) heard.unheard.push_back(rank);
    heard.dated = dated(diagnosis);
    return heard;
  }

 private:
  HeardRank& of(int rank) {
    const auto [known, is_new] = of_rank_.try_emplace(rank, told_.size());
    if (is_new) told_.push_back({.rank = rank, .host = crew_.host_of(rank)});
    return told_[known->second];
  }

  // A process with several GPUs is several ranks: its lines belong to none of them.
  void hear_process(const ProcessKey& process, int device, const LineRef& first,
                    const LineRef& last) {
    const std::vector<std::size_t> workers = view_.workers_in(process, device);
    if (workers.size() != 1 || !view_.in_attempt(process)) return;
    for (const LineRef* line : {&first, &last})
      hear(view_.job.dated(*line), told_[workers.front()]);
  }

  void hear_nccl() {
    for (const std::size_t index : view_.members) {
      const Member& member = view_.member(index);
      HeardRank& rank = told_[view_.workers.of_member[index]];
      for (const LineRef* line : {&member.init_line, &member.first_line, &member.last_line})
        if (line->known()) hear(view_.job.dated(*line), rank);
    }
    for (const ProcessSeen& seen : view_.job.processes().all())
      hear_process(seen.process, -1, seen.first, seen.last);
    for (const RemarkingProcess& process : view_.job.remarks().processes())
      for (const SaidRemark& said : process.said)
        hear_process(process.process, said.speaker.device, said.first, said.last);
    for (std::size_t i = 0; i < view_.workers.all.size(); ++i)
      told_[i].did = last_call_of(view_.workers.all[i]);
  }

  // The last call in the communicator in which it is furthest behind; if it is behind in none, in
  // the one that it used last.
  std::string last_call_of(const Worker& worker) const {
    const Member* chosen = nullptr;
    AlignedPlace where;
    std::uint64_t behind = 0;
    for (const std::size_t one : worker.members) {
      const Member& member = view_.member(one);
      if (member.place.position == 0) continue;
      const std::uint64_t lacks = view_.places[one].lacks();
      if (chosen != nullptr && lacks < behind) continue;
      if (chosen != nullptr && lacks == behind && !is_later(member.last_line, chosen->last_line))
        continue;
      chosen = &member;
      where = view_.places[one];
      behind = lacks;
    }
    if (chosen == nullptr) return {};
    const Progress& progress = view_.job.progress();
    std::string text =
        "last call " +
        progress.signature(progress.history().call_at(chosen->place, chosen->place.position - 1))
            .function;
    if (const Alignment* alignment = where.alignment) {
      const std::uint64_t position = where.position;
      if (const std::string label = position > 0 ? alignment->label(position - 1) : "";
          !label.empty())
        text += " " + label;
      text += " of " + view_.communicators[alignment->communicator].id;
    }
    if (chosen->done_op_count && chosen->last_op_count <= *chosen->done_op_count)
      text += ", which it finished";
    if (behind > 0) text += fmt::format(", {} call{} behind", behind, behind == 1 ? "" : "s");
    return text;
  }

  static bool is_later(const LineRef& a, const LineRef& b) {
    if (a.source == b.source) return a.line > b.line;
    return a.time.wall_us && b.time.wall_us && *a.time.wall_us > *b.time.wall_us;
  }

  void hear_torch() {
    for (const TorchRank* rank : crew_.ranks()) {
      if (rank->rank < 0 || rank->guessed) continue;
      const auto heard = [&](const LineRef& line) {
        if (line.known() && crew_.in_attempt(line)) hear(view_.job.dated(line), of(rank->rank));
      };
      for (const TorchTimeout& timeout : rank->timeouts) heard(timeout.line);
      if (rank->signalled) heard(*rank->signalled);
      if (rank->stuck) heard(*rank->stuck);
      for (const TorchSaying& said : rank->said) {
        heard(said.line);
        heard(said.last);
      }
      for (const auto& [group, standing] : rank->standings) {
        heard(standing.line);
        if (standing.completed && crew_.in_attempt(standing.line))
          counted(of(rank->rank), standing.enqueued, *standing.completed, group);
      }
    }
  }

  // Does nothing if NCCL's own lines have given a last call: those say more.
  static void counted(HeardRank& rank, std::optional<std::int64_t> enqueued, std::int64_t completed,
                      std::string_view group) {
    if (!rank.did.empty() || completed < 0) return;
    rank.did = fmt::format("last finished call #{} of process group {}", completed, group);
    if (enqueued && *enqueued > completed) rank.did += fmt::format(", last called #{}", *enqueued);
  }

  void hear_flight() {
    const Flight& flight = view_.job.flight();
    for (const auto& [rank, index] : flight.latest()) {
      const FlightDump& dump = flight.dumps()[index];
      if (rank < 0 || !crew_.in_attempt(dump.line)) continue;
      HeardRank& told = of(rank);
      if (told.host.empty()) told.host = dump.host;
      for (const FlightPosition& position : dump.positions) {
        for (const FlightEntry& entry : position.entries)
          if (entry.created_us > 0 && entry.created_us < kLatestUs)
            hear(EventTime::at(Timestamp(std::chrono::microseconds(entry.created_us))), told);
        if (position.last_completed)
          counted(told, position.last_enqueued, *position.last_completed,
                  flight.groups()[position.group].name);
      }
    }
  }

  // Steps of the training, if it is known which rank prints them.
  void hear_steps() {
    const std::optional<Training> training = training_of(view_);
    if (!training || training->line == nullptr) return;
    std::set<std::size_t> speakers;
    for (const std::size_t index : view_.members)
      if (view_.log_of(index) == training->line->source)
        speakers.insert(view_.workers.of_member[index]);
    const std::string step = step_in_words(*training);
    if (speakers.size() != 1 || step.empty()) return;
    HeardRank& told = told_[*speakers.begin()];
    hear(view_.job.dated(*training->line), told);
    told.did += (told.did.empty() ? "" : "; ") + step;
  }

  // A finding has the time of one of its lines. How exact the stamp of that line is, the state of
  // the job knows.
  std::map<std::string, Stamp> dated(const Diagnosis& diagnosis) const {
    using Line = std::pair<std::uint32_t, std::uint64_t>;  // source, number
    std::map<Line, std::vector<const Finding*>> wanted;
    for (const auto* findings :
         {&diagnosis.root_causes, &diagnosis.symptoms, &diagnosis.observations})
      for (const Finding& finding : *findings)
        for (const Evidence& line : finding.evidence)
          if (const auto source = view_.job.sources().index_of(line.source);
              source && finding.first_seen)
            wanted[{*source, line.line}].push_back(&finding);
    std::map<std::string, Stamp> found;
    const auto look = [&](const LineRef& line) {
      const auto asked = wanted.find({line.source, line.line});
      if (asked == wanted.end()) return;
      const std::optional<Stamp> stamp = stamp_of(view_.job.dated(line));
      if (!stamp) return;
      for (const Finding* finding : asked->second)
        if (finding->first_seen == stamp->time) found.emplace(finding->id, *stamp);
    };
    for_each_line(look);
    return found;
  }

  template <class Look>
  void for_each_line(const Look& look) const {
    for (const auto& xid : view_.job.hardware().xids()) look(xid.first);
    for (const auto& error : view_.job.hardware().switch_errors()) look(error.first);
    for (const KernelLog& log : view_.job.kernel_lines().logs())
      for (const KernelText& text : log.texts)
        for (const KernelSaying& saying : text.sayings) look(saying.line);
    for (const RemarkingProcess& process : view_.job.remarks().processes())
      for (const SaidRemark& said : process.said) look(said.first);
    for (const std::size_t index : view_.members) {
      look(view_.member(index).init_line);
      look(view_.member(index).last_line);
    }
    for (const TorchRank* rank : crew_.ranks()) {
      for (const TorchTimeout& timeout : rank->timeouts) look(timeout.line);
      for (const TorchSaying& said : rank->said) look(said.line);
    }
    for (const auto& exit : view_.job.torch().exits()) look(exit.line);
  }

  Catalog catalog_;  // what hardware reported is in the diagnosis
  Moment moment_{};
  View view_;
  const TorchCrew& crew_ = view_.crew();
  std::vector<HeardRank> told_;  // the workers, then ranks known from other lines
  std::map<int, std::size_t> of_rank_;
};

}  // namespace

Heard heard_of(const JobState& job, const Diagnosis& diagnosis) {
  return Listening(job, diagnosis.attempt).told(diagnosis);
}

}  // namespace faultline
