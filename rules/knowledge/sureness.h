// How sure a detector is, in names instead of numbers: a claim (the kind of its evidence) and
// grounds (what makes it more or less sure). Their weights stand in catalog/grounds.yaml. The build
// turns the names into enums, in rules/knowledge/ground_names.h; include that to use one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace faultline {

enum class Claim : std::uint16_t;
enum class Ground : std::uint16_t;

struct Sureness {
  Sureness() = default;
  Sureness(Claim the_claim) : claim(the_claim) {}
  // A signature, a condition or a setting has a prior of its own.
  Sureness(Claim the_claim, std::optional<double> its_own) : claim(the_claim), own(its_own) {}

  std::optional<Claim> claim;
  std::optional<double> own;  // a probability, in place of the claim's
  std::vector<Ground> grounds;

  // A ground counts once.
  void add(Ground ground);
  void remove(Ground ground);
  void add(const std::vector<Ground>& more);
  void add(std::optional<Ground> ground);  // if there is one
  bool has(Ground ground) const;
};

}  // namespace faultline
