// The ways in which the logs of one job reach a server.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "accuracy/reading.h"

namespace faultline::accuracy {

enum class Way {
  tar,          // one archive
  posts,        // a loop of curl --data-binary, which tells the host
  named_posts,  // and the name of each file
  form,         // curl -F, one for each host
  streams,      // one for each file, written to at random
  reversed,     // named posts, the last file first
  last_in_two,  // one file comes last, and in two pieces
  compressed,   // with gzip
  twice,        // each file a second time
  killed,       // the server dies in the middle, and comes back
  container,    // the files as Docker keeps them, in JSON
};
inline constexpr Way kWays[] = {Way::tar,     Way::posts,    Way::named_posts, Way::form,
                                Way::streams, Way::reversed, Way::last_in_two, Way::compressed,
                                Way::twice,   Way::killed,   Way::container};
std::string_view name_of(Way way);

// What a sender does next.
struct Sending {
  std::string query;  // of /api/v1/ingest, without the job
  std::string body;
  std::string type;      // of its content; empty: not said
  std::string encoding;  // the same
  int stream = -1;       // one of those that stay open; -1: a request by itself
  bool ends_stream = false;
  bool kill_before = false;
};

// The same way, files and seed, the same bytes.
std::vector<Sending> sendings(Way way, const Files& files, std::uint64_t seed);

}  // namespace faultline::accuracy
