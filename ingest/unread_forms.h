// UnreadForms: which unread lines that look like trouble were kept of a source. Of lines that
// differ only in their numbers, one is kept; of each kind of trouble, a limited number of forms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts/remark.h"

namespace faultline {

class UnreadForms {
 public:
  // Whether lines of this kind may still be kept, so that it is worth looking for them.
  bool has_room(TroubleKind kind) const;
  bool has_room() const;

  // False: there is no room, or one of its form was kept before.
  bool take(TroubleKind kind, std::string_view text);

  // Opaque; empty: none was kept.
  std::string save() const;
  void restore(std::string_view saved);

 private:
  using Forms = std::vector<std::uint64_t>;  // hashes
  static std::size_t place_of(TroubleKind kind) { return static_cast<std::size_t>(kind); }

  std::array<Forms, 4> by_kind_;
};

}  // namespace faultline
