#include "rules/knowledge/subjects.h"

#include <algorithm>

namespace faultline {
namespace {

// Calls call(to.FIELD, from.FIELD) for each field that holds names of parts.
template <class Call>
void for_each_field(Subject& to, const Subject& from, Call call) {
  call(to.hosts, from.hosts);
  call(to.ranks, from.ranks);
  call(to.gpus, from.gpus);
  call(to.nics, from.nics);
  call(to.communicators, from.communicators);
}

}  // namespace

void append(Subject& to, const Subject& from) {
  for_each_field(to, from, [](auto& all, const auto& more) {
    all.insert(all.end(), more.begin(), more.end());
  });
}

void tidy(Subject& subject) {
  for_each_field(subject, subject, [](auto& all, const auto&) {
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
  });
}

}  // namespace faultline
