#include "ingest/unread_forms.h"

#include <xxhash.h>

#include <algorithm>

#include "model/line_form.h"
#include "model/saved_bytes.h"

namespace faultline {
namespace {

// The most forms of each TroubleKind: none, fails, ends, hints.
constexpr std::array<std::size_t, 4> kMost = {0, 8, 16, 48};

// The order in which they are saved. Versions without hints saved only the first two.
constexpr TroubleKind kSaved[] = {TroubleKind::ends, TroubleKind::fails, TroubleKind::hints};

}  // namespace

bool UnreadForms::has_room(TroubleKind kind) const {
  return by_kind_[place_of(kind)].size() < kMost[place_of(kind)];
}

bool UnreadForms::has_room() const {
  return std::ranges::any_of(kSaved, [&](TroubleKind kind) { return has_room(kind); });
}

bool UnreadForms::take(TroubleKind kind, std::string_view text) {
  if (!has_room(kind)) return false;
  const std::string form = form_of_line(text);
  const std::uint64_t hash = XXH3_64bits(form.data(), form.size());
  Forms& forms = by_kind_[place_of(kind)];
  if (std::ranges::find(forms, hash) != forms.end()) return false;
  forms.push_back(hash);
  return true;
}

std::string UnreadForms::save() const {
  if (std::ranges::all_of(by_kind_, [](const Forms& forms) { return forms.empty(); })) return {};
  SavedBytesWriter saved;
  for (const TroubleKind kind : kSaved) {
    const Forms& forms = by_kind_[place_of(kind)];
    saved.number(static_cast<std::int64_t>(forms.size()));
    for (const std::uint64_t hash : forms) saved.number(static_cast<std::int64_t>(hash));
  }
  return saved.take();
}

void UnreadForms::restore(std::string_view bytes) {
  *this = {};
  if (bytes.empty()) return;
  SavedBytesReader saved(bytes);
  for (const TroubleKind kind : kSaved) {
    if (kind == TroubleKind::hints && saved.at_end()) break;
    const std::int64_t count = saved.number();
    if (!saved.ok() || count < 0 || count > static_cast<std::int64_t>(kMost[place_of(kind)])) break;
    for (std::int64_t i = 0; i < count; ++i)
      by_kind_[place_of(kind)].push_back(static_cast<std::uint64_t>(saved.number()));
  }
  if (!saved.ok() || !saved.at_end()) *this = {};  // these bytes are not ours
}

}  // namespace faultline
