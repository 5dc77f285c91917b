#include "model/json.h"

#include <fmt/format.h>

#include <boost/describe.hpp>
#include <boost/json.hpp>

namespace faultline {
namespace {

namespace json = boost::json;

template <class Enum>
json::value name_of(Enum value) {
  return json::string(boost::describe::enum_to_string(value, "unknown"));
}

json::value time_or_null(const std::optional<Timestamp>& time) {
  return time ? json::value(json::string(to_rfc3339(*time))) : json::value(nullptr);
}

template <class T>
json::value number_or_null(const std::optional<T>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

json::array list(const std::vector<std::string>& words) {
  json::array array;
  for (const std::string& word : words) array.emplace_back(word);
  return array;
}

json::array list(const std::vector<int>& numbers) {
  json::array array;
  for (const int number : numbers) array.emplace_back(number);
  return array;
}

json::object object_of(const Subject& subject) {
  return {{"hosts", list(subject.hosts)},
          {"ranks", list(subject.ranks)},
          {"gpus", list(subject.gpus)},
          {"nics", list(subject.nics)},
          {"communicators", list(subject.communicators)}};
}

json::object object_of(const Action& action) {
  return {{"do", action.what}, {"where", action.where}, {"command", action.command}};
}

json::object object_of(const Check& check) {
  return {{"check", check.check},
          {"status", name_of(check.status)},
          {"detail", check.detail},
          {"command", check.command}};
}

json::object object_of(const UnreadNote& note) {
  json::object object = to_json(note.line).as_object();
  object["sources"] = note.sources;
  return object;
}

json::object object_of(const MissingEvidence& missing) {
  return {{"what", missing.what}, {"why", missing.why}, {"command", missing.command}};
}

json::object object_of(const NextTime& next) { return {{"set", next.set}, {"why", next.why}}; }

json::object object_of(const HostCoverage& covered) {
  json::object lines;
  for (const auto& [dialect, count] : covered.lines) lines[dialect] = count;
  return {{"host", covered.host},
          {"ranks", list(covered.ranks)},
          {"lines", std::move(lines)},
          {"from", time_or_null(covered.from)},
          {"to", time_or_null(covered.to)}};
}

json::object object_of(const TimelineEntry& entry) {
  return {{"time", time_or_null(entry.time)},
          {"host", entry.host},
          {"what", entry.what},
          {"finding", entry.finding}};
}

json::object object_of(const ClockOffset& offset) {
  return {{"host", offset.host}, {"seconds", offset.seconds}, {"basis", offset.basis}};
}

json::object object_of(const ConfidenceStep& step) {
  return {{"confidence", step.confidence}, {"why", step.why}};
}

json::object object_of(const PossibleCause& cause) {
  return {{"finding", cause.finding},
          {"rule", cause.rule},
          {"order", cause.order},
          {"accepted", cause.rejected.empty()},
          {"rejected_because", cause.rejected}};
}

json::object object_of(const GpuView& gpu) {
  return {
      {"host", gpu.host}, {"gpu", gpu.gpu}, {"uuid", gpu.uuid}, {"rank", number_or_null(gpu.rank)}};
}

json::object object_of(const CommunicatorView& communicator) {
  return {{"id", communicator.id},
          {"nranks", communicator.nranks},
          {"members_seen", communicator.members_seen},
          {"furthest", communicator.furthest},
          {"slowest", communicator.slowest},
          {"matched", communicator.matched}};
}

json::object object_of(const ProcessGroupView& group) {
  return {{"id", group.id}, {"nranks", group.nranks}, {"members_seen", group.members_seen}};
}

json::object object_of(const SourceView& source) {
  return {{"name", source.name},
          {"host", source.host},
          {"bytes", source.bytes},
          {"lines", source.lines},
          {"recognized", source.recognized}};
}

json::object object_of(const SettingView& setting) {
  return {{"setting", setting.setting},
          {"value", setting.value},
          {"hosts", setting.hosts},
          {"only_on", list(setting.only_on)}};
}

json::object object_of(const StandingView& standing) {
  return {{"communicator", standing.communicator},
          {"rank", standing.rank},
          {"position", standing.position},
          {"behind", standing.behind},
          {"point_to_point", standing.point_to_point},
          {"op_count", number_or_null(standing.op_count)},
          {"last_call", standing.last_call},
          {"last_line", standing.last_line ? to_json(*standing.last_line) : json::value(nullptr)}};
}

json::object object_of(const JobOverview& job) {
  return {{"job", job.job},
          {"verdict", name_of(job.verdict)},
          {"ranks", {{"expected", job.ranks_expected}, {"seen", job.ranks_seen}}},
          {"attempts", job.attempts},
          {"last_activity", time_or_null(job.last_activity)},
          {"cause", job.cause},
          {"confidence", job.confidence ? json::value(*job.confidence) : json::value(nullptr)},
          {"since", time_or_null(job.since)}};
}

template <class T>
json::array objects(const std::vector<T>& values) {
  json::array array;
  for (const T& value : values) array.push_back(object_of(value));
  return array;
}

template <class T>
json::array documents(const std::vector<T>& values) {
  json::array array;
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

}  // namespace

json::value to_json(const Evidence& evidence) {
  return {{"source", evidence.source},
          {"line", evidence.line},
          {"offset", evidence.offset},
          {"time", time_or_null(evidence.time)},
          {"text", evidence.text}};
}

json::value to_json(const Finding& finding) {
  return {{"class", name_of(finding.cause)},
          {"title", finding.title},
          {"severity", name_of(finding.severity)},
          {"confidence", finding.confidence},
          {"subject", object_of(finding.subject)},
          {"first_seen", time_or_null(finding.first_seen)},
          {"last_seen", time_or_null(finding.last_seen)},
          {"zone_assumed", finding.zone_assumed},
          {"count", finding.count},
          {"finding", finding.id},
          {"explains", list(finding.explains)},
          {"evidence", documents(finding.evidence)},
          {"against", list(finding.against)},
          {"remedy", finding.remedy},
          {"actions", objects(finding.actions)},
          {"state", name_of(finding.state)},
          {"part_of_job", finding.part_of_job}};
}

json::value to_json(const Diagnosis& diagnosis) {
  return {{"job", diagnosis.job},
          {"attempt", diagnosis.attempt},
          {"as_of", time_or_null(diagnosis.as_of)},
          {"verdict", name_of(diagnosis.verdict)},
          {"summary", diagnosis.summary},
          {"root_causes", documents(diagnosis.root_causes)},
          {"symptoms", documents(diagnosis.symptoms)},
          {"observations", documents(diagnosis.observations)},
          {"so_far", documents(diagnosis.so_far)},
          {"judged_in_seconds",
           diagnosis.judged_in ? json::value(diagnosis.judged_in->count()) : json::value(nullptr)},
          {"chain", list(diagnosis.chain)},
          {"checklist", objects(diagnosis.checklist)},
          {"missing_evidence", objects(diagnosis.missing_evidence)},
          {"unread", objects(diagnosis.unread)},
          {"next_time", objects(diagnosis.next_time)},
          {"coverage", objects(diagnosis.coverage)},
          {"timeline", objects(diagnosis.timeline)},
          {"clock_offsets", objects(diagnosis.clock_offsets)},
          {"exclude",
           {{"hosts", list(diagnosis.exclude.hosts)},
            {"slurm", diagnosis.exclude.slurm},
            {"kubernetes", diagnosis.exclude.kubernetes}}},
          {"ranks",
           {{"expected", diagnosis.ranks.expected},
            {"seen", diagnosis.ranks.seen},
            {"behind", list(diagnosis.ranks.behind)},
            {"silent", list(diagnosis.ranks.silent)}}}};
}

json::value to_json(const Explanation& explanation) {
  json::array findings;
  for (const FindingStory& story : explanation.findings)
    findings.push_back({{"finding", story.finding},
                        {"title", story.title},
                        {"detector", story.detector},
                        {"place", name_of(story.place)},
                        {"why", story.why},
                        {"confidence", objects(story.confidence)},
                        {"possible_causes", objects(story.possible_causes)}});
  return {{"detectors", list(explanation.detectors)}, {"findings", std::move(findings)}};
}

json::value to_json(const JobOverview& job) { return object_of(job); }

json::value to_json(const JobDetail& job) {
  json::object object = object_of(job.overview);
  object["hosts"] = list(job.hosts);
  object["gpus"] = objects(job.gpus);
  object["nics"] = list(job.nics);
  object["communicators"] = objects(job.communicators);
  object["process_groups"] = objects(job.process_groups);
  object["sources"] = objects(job.sources);
  json::object versions;
  for (const auto& [what, values] : job.versions) versions[what] = list(values);
  object["versions"] = std::move(versions);
  object["network"] = list(job.network);
  object["settings"] = objects(job.settings);
  return object;
}

json::value to_json(const RankView& rank) {
  return {{"rank", rank.rank >= 0 ? json::value(rank.rank) : json::value(nullptr)},
          {"host", rank.host},
          {"pid", rank.pid != 0 ? json::value(rank.pid) : json::value(nullptr)},
          {"gpu", rank.gpu},
          {"state", rank.state},
          {"standings", objects(rank.standings)}};
}

}  // namespace faultline
