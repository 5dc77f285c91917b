#include "rules/story/rings.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "rules/story/precedence.h"

namespace faultline {
namespace {

using Ring = std::vector<std::size_t>;  // places of candidates, ascending

// The rings among some candidates: sets in which each leads to each, by Tarjan's algorithm.
class Rings {
 public:
  // `among`: for each candidate, whether it counts.
  Rings(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& of,
        const std::vector<bool>& among)
      : candidates_(candidates), among_(among), states_(candidates.size()) {
    for (const std::size_t c : of)
      if (states_[c].order == kUnseen) visit(c);
  }

  std::vector<Ring> found;

 private:
  static constexpr std::size_t kUnseen = std::numeric_limits<std::size_t>::max();
  struct State {
    std::size_t order = kUnseen;
    std::size_t lowest = 0;
    std::size_t next_effect = 0;
    bool waiting = false;
  };

  void enter(std::size_t c) {
    states_[c] = {.order = entered_, .lowest = entered_, .next_effect = 0, .waiting = true};
    ++entered_;
    waiting_.push_back(c);
    path_.push_back(c);
  }

  void visit(std::size_t start) {
    enter(start);
    while (!path_.empty()) {
      const std::size_t c = path_.back();
      const std::vector<std::size_t>& effects = candidates_[c].effects;
      if (states_[c].next_effect == effects.size()) {
        leave(c);
        continue;
      }
      const std::size_t e = effects[states_[c].next_effect++];
      if (!among_[e]) continue;
      if (states_[e].order == kUnseen)
        enter(e);
      else if (states_[e].waiting)
        states_[c].lowest = std::min(states_[c].lowest, states_[e].order);
    }
  }

  void leave(std::size_t c) {
    path_.pop_back();
    if (!path_.empty())
      states_[path_.back()].lowest = std::min(states_[path_.back()].lowest, states_[c].lowest);
    if (states_[c].lowest != states_[c].order) return;
    Ring ring;
    do {
      ring.push_back(waiting_.back());
      states_[waiting_.back()].waiting = false;
      waiting_.pop_back();
    } while (ring.back() != c);
    std::ranges::sort(ring);
    if (ring.size() > 1) found.push_back(std::move(ring));
  }

  const std::vector<Candidate>& candidates_;
  const std::vector<bool>& among_;
  std::vector<State> states_;
  std::vector<std::size_t> waiting_;
  std::vector<std::size_t> path_;
  std::size_t entered_ = 0;
};

// Where to cut a ring of findings that explain each other: at one that something outside the ring
// explains, too; failing that, at one that no other of the ring comes before.
std::size_t where_it_opens(const std::vector<Candidate>& candidates, const Ring& ring,
                           const std::vector<bool>& in_ring) {
  const auto led_to_from_outside = [&](std::size_t c) {
    return std::ranges::any_of(candidates[c].explained_by,
                               [&](std::size_t by) { return !in_ring[by]; });
  };
  const auto is_preceded = [&](std::size_t c) {
    return std::ranges::any_of(candidates[c].explained_by, [&](std::size_t by) {
      return in_ring[by] && told_order(candidates[by], candidates[c]) == Order::before;
    });
  };
  struct Opening {
    std::size_t place;
    bool from_inside;
    bool preceded;
  };
  std::optional<Opening> best;
  for (const std::size_t c : ring) {
    const Opening next{c, !led_to_from_outside(c), is_preceded(c)};
    if (best) {
      const auto key = [&](const Opening& o) {
        return std::tuple(o.from_inside, o.preceded, candidates[o.place].symptom);
      };
      if (key(*best) < key(next)) continue;
      if (key(*best) == key(next) && !begins_before(candidates[c], candidates[best->place]))
        continue;
    }
    best = next;
  }
  return best->place;
}

}  // namespace

void unlink(std::vector<Candidate>& candidates, std::size_t cause, std::size_t effect,
            std::string_view why) {
  std::erase(candidates[cause].effects, effect);
  std::erase(candidates[effect].explained_by, cause);
  for (PossibleCause& possible : candidates[effect].possible_causes)
    if (possible.finding == candidates[cause].finding().id) possible.rejected = why;
}

void open_rings(std::vector<Candidate>& candidates) {
  std::vector<std::size_t> all(candidates.size());
  for (std::size_t c = 0; c < all.size(); ++c) all[c] = c;
  std::vector<bool> among(candidates.size(), true);
  std::vector<Ring> rings = Rings(candidates, all, among).found;
  among.assign(candidates.size(), false);
  while (!rings.empty()) {
    const Ring ring = std::move(rings.back());
    rings.pop_back();
    for (const std::size_t c : ring) among[c] = true;
    const std::size_t first = where_it_opens(candidates, ring, among);
    const std::vector<std::size_t> causes = candidates[first].explained_by;
    for (const std::size_t c : causes)
      if (among[c])
        unlink(candidates, c, first, "it also follows from this finding, which began first");
    for (Ring& left : Rings(candidates, ring, among).found) rings.push_back(std::move(left));
    for (const std::size_t c : ring) among[c] = false;
  }
}

}  // namespace faultline
