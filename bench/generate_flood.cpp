// Writes lines that each name something new.
//
//   generate_flood xids 100000 > flood.log
//
// Kinds: see flood_lines.h. The same words give the same bytes.
#include "flood_lines.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

using faultline::FloodKind;
using faultline::kFloodKinds;

int main(int argc, char** argv) try {
  const auto* const kind =
      argc == 3 ? std::ranges::find(kFloodKinds, argv[1], &FloodKind::name) : kFloodKinds.end();
  if (kind == kFloodKinds.end()) {
    fmt::print(stderr, "usage: generate_flood KIND LINES; kinds:");
    for (const FloodKind& one : kFloodKinds) fmt::print(stderr, " {}", one.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  const int lines = std::atoi(argv[2]);
  for (int i = 0; i < lines; ++i) {
    const std::string line = kind->line(i) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "generate_flood: {}\n", error.what());
  return 1;
}
