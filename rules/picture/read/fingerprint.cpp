#include "rules/picture/read/fingerprint.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace faultline {
namespace {

// Answers that differ from process to process, or follow from others.
constexpr std::array<std::string_view, 8> kLeftOut = {
    "interface ", "affinity ", "gdr_pair ", "dmabuf ", "cc ", "mnnvl ", "script ", "launch "};

bool depends_on_size(std::string_view question) {
  return question.starts_with("channels ") || question.starts_with("graph ") ||
         question == "rings" || question.starts_with("transport ") ||
         question == "network connected";
}

// The connections are known only once all are made.
bool is_connected(const CommunicatorSetup& communicator) { return !communicator.steps.empty(); }

void add_links(const Setup& setup, const CommunicatorSetup& communicator, HostAnswers& answers) {
  for (const Link& link : communicator.links) {
    const std::string& transport = setup.text(link.transport);
    if (transport.starts_with("NET/")) {
      answers["network connected"].insert(transport);
      if (transport != "NET/Socket" && link.direction != Direction::both)
        answers[link.direction == Direction::send ? "gdr send" : "gdr receive"].insert(
            link.gdr ? "on" : "off");
    } else if (transport.starts_with("P2P/") || transport.starts_with("SHM")) {
      answers["transport within"].insert(transport);
    }
  }
}

void add_largest(const Setup& setup, const CommunicatorSetup& communicator, HostAnswers& answers) {
  for (const AnswerGiven& answer : communicator.answers)
    answers[setup.text(answer.question)].insert(setup.text(answer.value));
  if (communicator.rings > 0) answers["rings"].insert(std::to_string(communicator.rings));
}

HostAnswers all_answers(const StartFingerprint& fingerprint) {
  HostAnswers all;
  for (const auto& [host, answers] : fingerprint.hosts)
    for (const auto& [question, said] : answers) all[question].insert(said.begin(), said.end());
  return all;
}

}  // namespace

bool is_cut(std::string_view value) { return value.ends_with(" ..."); }

StartFingerprint fingerprint_of(const Setup& setup,
                                const std::function<bool(const ProcessKey&)>& is_of_the_start) {
  StartFingerprint fingerprint;
  for (const ProcessSetup& process : setup.processes()) {
    if (process.host.empty() || !is_of_the_start(process.process)) continue;
    HostAnswers& answers = fingerprint.hosts[process.host];
    for (const AnswerGiven& answer : process.answers) {
      const std::string& question = setup.text(answer.question);
      const std::string& value = setup.text(answer.value);
      const bool left_out = std::ranges::any_of(
          kLeftOut, [&](std::string_view group) { return question.starts_with(group); });
      if (!left_out && !is_cut(value)) answers[question].insert(value);
    }
    const auto largest =
        std::ranges::max_element(process.communicators, {}, &CommunicatorSetup::nranks);
    if (largest == process.communicators.end()) continue;
    fingerprint.ranks = std::max(fingerprint.ranks, largest->nranks);
    add_largest(setup, *largest, answers);
    for (const CommunicatorSetup& communicator : process.communicators)
      if (is_connected(communicator)) add_links(setup, communicator, answers);
  }
  // If one connection of a host uses GPUDirect, others may have a reason not to.
  for (auto& [host, answers] : fingerprint.hosts)
    for (const char* question : {"gdr send", "gdr receive"})
      if (const auto said = answers.find(question);
          said != answers.end() && said->second.contains("on"))
        said->second = {"on"};
  return fingerprint;
}

std::vector<Change> compare(const StartFingerprint& now, const StartFingerprint& before) {
  const HostAnswers anywhere = all_answers(before);
  std::map<std::tuple<std::string, std::set<std::string>, std::set<std::string>>, std::size_t>
      known;
  std::vector<Change> changes;
  for (const auto& [host, answers] : now.hosts) {
    const auto itself = before.hosts.find(host);
    const HostAnswers& reference = itself == before.hosts.end() ? anywhere : itself->second;
    for (const auto& [question, said] : answers) {
      const auto old = reference.find(question);
      if (old == reference.end() || std::ranges::includes(old->second, said)) continue;
      if (depends_on_size(question) && now.ranks != before.ranks) continue;
      auto [place, is_new] =
          known.try_emplace(std::make_tuple(question, old->second, said), changes.size());
      if (is_new) changes.push_back({question, old->second, said, {}});
      changes[place->second].hosts.push_back(host);
    }
  }
  return changes;
}

}  // namespace faultline
