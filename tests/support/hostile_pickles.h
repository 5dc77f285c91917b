// Pickles that no Flight Recorder wrote. Reading one executes nothing and takes little memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct HostilePickle {
  const char* name;
  std::string bytes;
};

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Makes them one after the other, because together they are large.
template <class Visit>
void for_each_hostile_pickle(Visit&& visit) {
  using namespace std::string_literals;
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const std::string begin = "\x80\x02"s;
  const auto show = [&](const char* name, std::string bytes) {
    visit(HostilePickle{name, std::move(bytes)});
  };
  show("GLOBAL and REDUCE", begin + "cos\nsystem\n(X\x02\0\0\0lstR."s);
  show("STACK_GLOBAL", "\x80\x04\x8c\x02os\x8c\x06system\x93."s);
  show("REDUCE alone", begin + "))R."s);
  show("INST", begin + "(ios\nsystem\n."s);
  show("BUILD", begin + "}}b."s);
  show("an object behind much that is fine",
       begin + "](" + repeated("K\x01", kMiB / 4) + "ecos\nsystem\n)R."s);
  show("marks", begin + repeated("(", 4 * kMiB));
  show("lists within lists", begin + repeated("]", 8 * kMiB) + repeated("a", 8 * kMiB) + ".");
  show("tuples within tuples", begin + ")" + repeated("\x85", 16 * kMiB) + ".");
  std::string doubling = begin + "]q\0"s;
  for (char i = 0; i < 100; ++i) doubling += "](h"s + i + 'h' + i + "eq" + static_cast<char>(i + 1);
  show("a list that doubles", doubling + ".");
  show("a list that holds itself", begin + "]q\0h\0a."s);
  show("a place in the memo far away", begin + "]r\xff\xff\xff\x7f."s);
  show("places in the memo", begin + "]" + repeated("\x94", 20 * kMiB) + ".");
  show("a text that is not there", "\x80\x04\x8d\0\0\0\0\0\0\0\x10x"s);
  show("numbers", begin + "](" + repeated("K\x01", 10 * kMiB) + "e.");
  show("nothing, often", begin + "](" + repeated("N", 20 * kMiB) + "e.");
  show("one thing, often", begin + "]q\0("s + repeated("h\0"s, 10 * kMiB) + "e.");
  show("short texts", begin + "](" + repeated("X\x01\0\0\0y"s, 3 * kMiB) + "e.");
  show("52 MB of short texts", begin + "](" + repeated("X\x02\0\0\0yy"s, 52 * kMiB / 7) + "e.");
  show("texts", begin + "](" + repeated("X\x10\0\0\0yyyyyyyyyyyyyyyy"s, kMiB) + "e.");
  show("dictionaries", begin + "](" + repeated("}K\x01K\x02s", 4 * kMiB) + "e.");
  show("a frame without an end", "\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f}."s);
}

}  // namespace faultline
