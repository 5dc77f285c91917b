// Lines that say something in words of their own.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// What it means is for the signatures to tell (rules/knowledge/catalog/signatures): every warning
// is kept, and of other lines those that a signature asks for.
struct Remark {
  static constexpr std::string_view kKind = "remark";
  std::string dialect;   // nccl, kernel, system (a host's programs); empty: nobody knows it
  std::string level;     // warn, info, …
  std::string place;     // transport/net_ib.cc:2458, a plugin's word; of system the program
  std::string function;  // where the line names it
  std::string text;      // the message, several lines joined by newlines
  std::int64_t thread = 0;
  bool operator==(const Remark&) const = default;
};
BOOST_DESCRIBE_STRUCT(Remark, (), (dialect, level, place, function, text, thread))

// What a line that nobody reads tells by its words: that something ended or broke, that something
// did not work, or, of the kernel's and of a host's programs as well, what may only be trouble.
enum class TroubleKind : std::uint8_t { none, fails, ends, hints };
BOOST_DESCRIBE_ENUM(TroubleKind, none, fails, ends, hints)

// A line that nobody reads, and that reads as if something went wrong. Of a source, the first ones
// of each form are kept.
struct UnreadTrouble {
  static constexpr std::string_view kKind = "unread_trouble";
  TroubleKind tells = TroubleKind::none;
  std::string text;  // without what it was wrapped in
  bool operator==(const UnreadTrouble&) const = default;
};
BOOST_DESCRIBE_STRUCT(UnreadTrouble, (), (tells, text))

}  // namespace faultline
