#include "ingest/unread_forms.h"

#include <xxhash.h>

#include <algorithm>

#include "model/line_form.h"
#include "model/saved_bytes.h"

namespace faultline {
namespace {

constexpr std::size_t kMostEnds = 16;
constexpr std::size_t kMostFails = 8;

}  // namespace

bool UnreadForms::has_room(TroubleKind kind) const {
  return kind == TroubleKind::ends ? ends_.size() < kMostEnds : fails_.size() < kMostFails;
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
  if (ends_.empty() && fails_.empty()) return {};
  SavedBytesWriter saved;
  for (const auto* hashes : {&ends_, &fails_}) {
    saved.number(static_cast<std::int64_t>(hashes->size()));
    for (const std::uint64_t hash : *hashes) saved.number(static_cast<std::int64_t>(hash));
  }
  return saved.take();
}

void UnreadForms::restore(std::string_view bytes) {
  *this = {};
  if (bytes.empty()) return;
  SavedBytesReader saved(bytes);
  for (auto* hashes : {&ends_, &fails_}) {
    const std::int64_t count = saved.number();
    if (!saved.ok() || count < 0 || count > static_cast<std::int64_t>(kMostEnds)) break;
    for (std::int64_t i = 0; i < count; ++i)
      hashes->push_back(static_cast<std::uint64_t>(saved.number()));
  }
  if (!saved.ok() || !saved.at_end()) *this = {};  // not ours
}

}  // namespace faultline
