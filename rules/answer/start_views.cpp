#include "rules/answer/start_views.h"

#include <algorithm>
#include <set>

#include "rules/picture/read/fingerprint.h"

namespace faultline {
namespace {

constexpr std::string_view kVersion = "version ";

void list_nics(const View& view, JobDetail& detail) {
  std::set<std::string> nics;
  for (const ProcessSetup& process : view.job.setup().processes())
    if (view.in_attempt(process.process) && !process.host.empty())
      for (const std::string& device : view.job.addresses().devices_of(process.process))
        nics.insert(process.host + "/" + device);
  detail.nics.assign(nics.begin(), nics.end());
}

// One question: its answers. All but the most common one name their hosts.
void list_answers(const std::string& question,
                  const std::map<std::string, std::set<std::string>>& hosts_by_answer,
                  JobDetail& detail) {
  const auto most_common = std::ranges::max_element(
      hosts_by_answer, {}, [](const auto& answer) { return answer.second.size(); });
  for (const auto& answer : hosts_by_answer) {
    SettingView view{question, answer.first, static_cast<int>(answer.second.size()), {}};
    if (&answer != &*most_common) view.only_on.assign(answer.second.begin(), answer.second.end());
    detail.settings.push_back(std::move(view));
    if (question.starts_with(kVersion))
      detail.versions[question.substr(kVersion.size())].push_back(answer.first);
    if (question == "network used") detail.network.push_back(answer.first);
  }
}

}  // namespace

void describe_start(const View& view, JobDetail& detail) {
  list_nics(view, detail);
  const StartFingerprint start = fingerprint_of(
      view.job.setup(), [&](const ProcessKey& process) { return view.in_attempt(process); });
  std::map<std::string, std::map<std::string, std::set<std::string>>> questions;
  for (const auto& [host, answers] : start.hosts)
    for (const auto& [question, said] : answers)
      for (const std::string& answer : said) questions[question][answer].insert(host);
  for (const auto& [question, hosts_by_answer] : questions)
    list_answers(question, hosts_by_answer, detail);
}

}  // namespace faultline
