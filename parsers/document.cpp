#include "parsers/document.h"

namespace faultline {
namespace {

constexpr std::size_t kMaxKeptBytes = 1024;

}  // namespace

void KeptLine::keep(const DocumentLine& line) {
  number = line.number;
  offset = line.offset;
  text = line.whole.substr(0, kMaxKeptBytes);
  while (text.ends_with('\r')) text.pop_back();
}

void KeptLine::save(SavedBytesWriter& saved) const {
  saved.number(static_cast<std::int64_t>(number));
  saved.number(static_cast<std::int64_t>(offset));
  saved.text(text);
}

void KeptLine::restore(SavedBytesReader& saved) {
  number = static_cast<std::uint64_t>(saved.number());
  offset = static_cast<std::uint64_t>(saved.number());
  text = saved.text();
}

}  // namespace faultline
