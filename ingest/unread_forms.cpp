#include "ingest/unread_forms.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "model/line_form.h"
#include "model/saved_bytes.h"

namespace faultline {
namespace {

constexpr std::size_t kMostEnds = 16;
constexpr std::size_t kMostFails = 8;
constexpr std::size_t kMostHints = 48;

constexpr std::size_t most_of(TroubleKind kind) {
  switch (kind) {
    case TroubleKind::none:
      return 0;
    case TroubleKind::fails:
      return kMostFails;
    case TroubleKind::ends:
      return kMostEnds;
    case TroubleKind::hints:
      return kMostHints;
  }
  return 0;
}

}  // namespace

const std::vector<std::uint64_t>& UnreadForms::of(TroubleKind kind) const {
  if (kind == TroubleKind::ends) return ends_;
  return kind == TroubleKind::fails ? fails_ : hints_;
}

std::vector<std::uint64_t>& UnreadForms::of(TroubleKind kind) {
  return const_cast<std::vector<std::uint64_t>&>(std::as_const(*this).of(kind));
}

bool UnreadForms::has_room(TroubleKind kind) const { return of(kind).size() < most_of(kind); }

bool UnreadForms::has_room() const {
  return has_room(TroubleKind::ends) || has_room(TroubleKind::fails) ||
         has_room(TroubleKind::hints);
}

bool UnreadForms::take(TroubleKind kind, std::string_view text) {
  if (!has_room(kind)) return false;
  const std::string form = form_of_line(text);
  const std::uint64_t hash = XXH3_64bits(form.data(), form.size());
  if (std::ranges::find(of(kind), hash) != of(kind).end()) return false;
  of(kind).push_back(hash);
  return true;
}

std::string UnreadForms::save() const {
  if (ends_.empty() && fails_.empty() && hints_.empty()) return {};
  SavedBytesWriter saved;
  for (const auto* hashes : {&ends_, &fails_, &hints_}) {
    saved.number(static_cast<std::int64_t>(hashes->size()));
    for (const std::uint64_t hash : *hashes) saved.number(static_cast<std::int64_t>(hash));
  }
  return saved.take();
}

void UnreadForms::restore(std::string_view bytes) {
  *this = {};
  if (bytes.empty()) return;
  SavedBytesReader saved(bytes);
  for (auto* hashes : {&ends_, &fails_, &hints_}) {
    if (hashes == &hints_ && saved.at_end()) break;  // of a version that kept none
    const std::int64_t count = saved.number();
    if (!saved.ok() || count < 0 || count > static_cast<std::int64_t>(kMostHints)) break;
    for (std::int64_t i = 0; i < count; ++i)
      hashes->push_back(static_cast<std::uint64_t>(saved.number()));
  }
  if (!saved.ok() || !saved.at_end()) *this = {};  // not ours
}

}  // namespace faultline
