// Lines of free text.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// A line whose meaning the signatures know (rules/knowledge/catalog/signatures). Every warning is
// kept; any other line only if a signature asks for it.
struct Remark {
  static constexpr std::string_view kKind = "remark";
  std::string dialect;   // nccl, kernel, system (a host's programs); empty: not known
  std::string level;     // warn, info, …
  std::string place;     // transport/net_ib.cc:2458, a plugin's word; for system the program
  std::string function;  // if the line names it
  std::string text;      // the message, several lines joined by newlines
  std::int64_t thread = 0;
  bool operator==(const Remark&) const = default;
};
BOOST_DESCRIBE_STRUCT(Remark, (), (dialect, level, place, function, text, thread))

// What the words of a line that no parser knows suggest. ends: something ended or broke. fails:
// something did not work. hints: may only be trouble, for lines of the kernel and a host's
// programs.
enum class TroubleKind : std::uint8_t { none, fails, ends, hints };
BOOST_DESCRIBE_ENUM(TroubleKind, none, fails, ends, hints)

// A line that no parser and no signature knows, and that sounds as if something went wrong. The
// first lines of each form are kept for each source.
struct UnreadTrouble {
  static constexpr std::string_view kKind = "unread_trouble";
  TroubleKind tells = TroubleKind::none;
  std::string text;  // unwrapped
  bool operator==(const UnreadTrouble&) const = default;
};
BOOST_DESCRIBE_STRUCT(UnreadTrouble, (), (tells, text))

}  // namespace faultline
