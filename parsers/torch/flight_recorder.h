// Dumps of PyTorch's Flight Recorder, one file for each rank: pickles as the watchdog writes them,
// JSON as its server gives it out or as people save it again. Every version of the schema is read:
// keys that a version lacks are left empty, unknown ones are passed over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/fact.h"
#include "model/time.h"

namespace faultline {

// A dump is no text of lines; what stands for it as evidence is written here.
struct DumpedFact {
  Fact fact;
  EventTime time;
  std::string text;
};

// What the beginning of a file may be of. unsure: more bytes will tell.
enum class DumpForm { none, unsure, pickle, json };

// As many bytes tell.
inline constexpr std::size_t kDumpFormBytes = 4096;

// all: nothing follows.
DumpForm dump_form(std::string_view beginning, bool all);

struct DumpReading {
  enum class Outcome {
    read,        // or refused, which a fact tells
    incomplete,  // more must follow
    other,       // well-formed, but somebody else's
  };
  Outcome outcome = Outcome::read;
  std::size_t consumed = 0;
  std::vector<DumpedFact> facts;  // the dump first
};

// all: nothing follows; of a dump that breaks off what is whole is read.
DumpReading read_dump_pickle(std::string_view bytes, bool all);

// A JSON text that is complete, or the part of one that breaks off.
DumpReading read_dump_json(std::string_view text, bool broken_off);

// A dump that was not read at all, and why.
DumpedFact refused_dump(std::string_view form, std::string reason);

}  // namespace faultline
