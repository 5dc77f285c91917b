// How sure a detector is, in names and not in numbers: what kind of evidence it has, and what makes
// that more or less sure. What each weighs stands in catalog/grounds.yaml; the names become enums
// in rules/knowledge/ground_names.h, which whoever names one includes.
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
