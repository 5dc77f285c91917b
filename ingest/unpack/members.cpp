#include "ingest/unpack/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace faultline::unpacking {

std::string tidy_name(std::string_view name) {
  while (true) {
    if (name.starts_with('/'))
      name.remove_prefix(1);
    else if (name.starts_with("./"))
      name.remove_prefix(2);
    else
      break;
  }
  std::string tidy(name.substr(0, name.find('\0')));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(tidy.begin(), tidy.end(), is_control, '?');
  return tidy;
}

void Members::begin(std::string_view name) {
  name_ = tidy_name(name);
  member_ = open_(name_);
}

Result<void> Members::feed(std::string_view piece) {
  if (!member_) return {};  // it was damaged further up; its rest is passed over
  Result<void> fed = member_->feed(piece);
  if (fed || fed.error().kind == Error::Kind::too_large) return fed;
  return damaged(fed.error());
}

Result<void> Members::damaged(Error error) {
  Result<void> noted = note(std::move(error));
  if (member_) (void)member_->finish();  // the first complaint is the one that helps
  member_.reset();
  return noted;
}

Result<void> Members::close() {
  if (!member_) return {};
  const StagePtr member = std::move(member_);
  Result<void> finished = member->finish();
  return finished ? finished : note(finished.error());
}

Result<void> Members::note(Error error) {
  error.message = fmt::format("in {}: {}", name_, error.message);
  if (error.kind == Error::Kind::too_large) return error;
  if (!first_error_) first_error_ = std::move(error);
  return {};
}

}  // namespace faultline::unpacking
