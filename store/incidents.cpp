#include "store/incidents.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace faultline {
namespace {

// Which findings belong together: of() returns the lowest index in a finding's group.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  std::size_t of(std::size_t index) {
    while (parent_[index] != index) index = parent_[index] = parent_[parent_[index]];
    return index;
  }

  void join(std::size_t a, std::size_t b) {
    a = of(a);
    b = of(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::map<std::string, std::string, std::less<>> incidents_of(const std::vector<Finding>& found,
                                                             const Standing& standing,
                                                             std::vector<KnownIncident> known) {
  std::map<std::string_view, std::size_t> index;
  std::vector<const Finding*> findings;
  for (const Finding& finding : found) {
    if (!standing.causes.contains(finding.id) && !standing.symptoms.contains(finding.id)) continue;
    if (index.emplace(finding.id, findings.size()).second) findings.push_back(&finding);
  }
  Groups groups(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i)
    for (const std::string& explained : findings[i]->explains)
      if (const auto effect = index.find(explained); effect != index.end())
        groups.join(i, effect->second);

  std::ranges::sort(known, {}, &KnownIncident::age);
  std::map<std::size_t, std::string> names;  // by group
  std::set<std::string> taken;
  for (const KnownIncident& before : known)
    if (const auto still = index.find(before.finding); still != index.end()) {
      names.emplace(groups.of(still->second), before.incident);
      taken.insert(before.incident);
    }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::size_t group = groups.of(i);
    if (names.contains(group)) continue;
    const auto left = std::ranges::find_if(
        known, [&](const KnownIncident& before) { return !taken.contains(before.incident); });
    std::string name = left != known.end() ? left->incident : "i" + findings[group]->id;
    taken.insert(name);
    names.emplace(group, std::move(name));
  }

  std::map<std::string, std::string, std::less<>> incidents;
  for (std::size_t i = 0; i < findings.size(); ++i)
    incidents.emplace(findings[i]->id, names.at(groups.of(i)));
  return incidents;
}

}  // namespace faultline
