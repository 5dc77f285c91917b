// A limit for what a sender can multiply. What is over it is counted, and the answer tells of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace faultline {

// The first half of the entries is for whatever comes first. Of the second half, each kind gets a
// small share, so that a flood of one kind leaves room for the few entries that matter.
class FairLimit {
 public:
  explicit FairLimit(std::size_t most) : most_(most) {}

  // Whether one more entry of the kind is within the limit.
  bool allows(std::uint64_t kind) const;
  bool allows_all() const { return kept_ < most_ / 2; }
  void add(std::uint64_t kind);

  // An entry that was added is gone: it is taken off the share of its kind, whether it was of the
  // first half or not, because another one is of the first half instead, and in a flood this is
  // one of the same kind. Once no more than the first half is left, no kind has used its share.
  void remove(std::uint64_t kind);
  bool has_shares() const { return !shares_.empty(); }  // else remove() needs no kind

  // Adds the entry if it is within the limit, else counts it as left out.
  bool admit(std::uint64_t kind);
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::size_t most_;
  std::size_t kept_ = 0;
  std::uint64_t left_out_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> shares_;  // what each kind has of the second half
};

// The first words of a text tell its kind, without those that have digits: names and numbers vary
// in a flood of one form.
std::uint64_t kind_of_text(std::string_view text);

}  // namespace faultline
