// Workers by their host and one more thing that kernel lines name: the address of a GPU, or a pid.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/state/workers.h"

namespace faultline {

template <class Thing>
class WorkersBy {
 public:
  using Indices = std::vector<std::size_t>;

  WorkersBy(const Workers& workers, Thing Worker::* thing)
      : WorkersBy(workers, thing, [](const Worker&) { return true; }) {}
  // Only of the workers that count.
  template <class Counts>
  WorkersBy(const Workers& workers, Thing Worker::* thing, Counts counts) : workers_(workers) {
    for (std::size_t i = 0; i < workers.all.size(); ++i) {
      const Worker& worker = workers.all[i];
      if (!counts(worker)) continue;
      of_all_[worker.*thing].push_back(i);
      by_host_[worker.host][worker.*thing].push_back(i);
      by_sender_host_[worker.sender_host][worker.*thing].push_back(i);
    }
  }

  // Indices of the workers with this thing whose lines name this host.
  const Indices& named(std::string_view host, const Thing& thing) const {
    return in(by_host_, host, thing);
  }
  // The same, of Workers::on(host).
  const Indices& on(std::string_view host, const Thing& thing) const {
    return workers_.by_host.contains(host) ? named(host, thing) : in(by_sender_host_, host, thing);
  }
  // The same, of Workers::perhaps_on(host), ascending.
  Indices perhaps_on(std::string_view host, const Thing& thing) const {
    const auto [some, others] = parts_of(host, thing);
    Indices they;
    std::ranges::merge(*some, *others, std::back_inserter(they));
    return they;
  }
  template <class Is>
  bool any_perhaps_on(std::string_view host, const Thing& thing, Is is) const {
    const auto [some, others] = parts_of(host, thing);
    return std::ranges::any_of(*some, is) || std::ranges::any_of(*others, is);
  }

 private:
  using ByThing = std::map<Thing, Indices>;
  using ByHost = std::map<std::string, ByThing, std::less<>>;

  static const Indices& of(const ByThing& things, const Thing& thing) {
    static const Indices kNoWorkers;
    const auto known = things.find(thing);
    return known == things.end() ? kNoWorkers : known->second;
  }
  static const Indices& in(const ByHost& hosts, std::string_view host, const Thing& thing) {
    static const ByThing kNothing;
    const auto known = hosts.find(host);
    return of(known == hosts.end() ? kNothing : known->second, thing);
  }
  // Those of perhaps_on() in two lists.
  std::pair<const Indices*, const Indices*> parts_of(std::string_view host,
                                                     const Thing& thing) const {
    static const Indices kNoWorkers;
    if (host.empty()) return {&of(of_all_, thing), &kNoWorkers};
    if (!workers_.by_host.contains("")) return {&on(host, thing), &kNoWorkers};
    return {&named("", thing), &named(host, thing)};
  }

  const Workers& workers_;
  ByThing of_all_;
  ByHost by_host_;
  ByHost by_sender_host_;
};

}  // namespace faultline
