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
  posts,        // a loop of curl --data-binary that names the host
  named_posts,  // the same, with the name of each file
  form,         // curl -F, one for each host
  streams,      // one for each file, written to in random order
  reversed,     // named posts, the last file first
  last_in_two,  // one file comes last, and in two pieces
  compressed,   // with gzip
  twice,        // each file is sent twice
  killed,       // kill -9 in the middle, then a restart
  container,    // the files as Docker keeps them, in JSON
};
inline constexpr Way kWays[] = {Way::tar,     Way::posts,    Way::named_posts, Way::form,
                                Way::streams, Way::reversed, Way::last_in_two, Way::compressed,
                                Way::twice,   Way::killed,   Way::container};
std::string_view name_of(Way way);

// One step of a sender.
struct Sending {
  std::string query;  // of /api/v1/ingest, without the job
  std::string body;
  std::string type;      // Content-Type; empty: none
  std::string encoding;  // Content-Encoding; empty: none
  int stream = -1;       // the open upload that it continues; -1: a request of its own
  bool ends_stream = false;
  bool kill_before = false;
};

// The same way, files and seed give the same bytes.
std::vector<Sending> sendings(Way way, const Files& files, std::uint64_t seed);

}  // namespace faultline::accuracy
