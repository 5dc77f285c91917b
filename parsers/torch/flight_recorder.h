// Dumps of PyTorch's Flight Recorder, one file for each rank: pickles that the watchdog writes, or
// JSON from its server or from a conversion. All versions of the schema are read: values that a
// version lacks stay empty, unknown keys are ignored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/fact.h"
#include "model/time.h"

namespace faultline {

// A fact of a dump. A dump has no lines, so `text` is written as its evidence.
struct DumpedFact {
  Fact fact;
  EventTime time;
  std::string text;
};

// What kind of file has this beginning. unsure: more bytes are needed.
enum class DumpForm { none, unsure, pickle, json };

// So many bytes are enough to decide.
inline constexpr std::size_t kDumpFormBytes = 4096;

// all: the beginning is the whole file.
DumpForm dump_form(std::string_view beginning, bool all);

struct DumpReading {
  enum class Outcome {
    read,        // or refused; then a fact says so
    incomplete,  // more bytes are needed
    other,       // well-formed, but not a dump
  };
  Outcome outcome = Outcome::read;
  std::size_t consumed = 0;
  std::vector<DumpedFact> facts;  // the dump first
};

// all: no more bytes follow, so the whole entries of a dump that breaks off are read.
DumpReading read_dump_pickle(std::string_view bytes, bool all);

// text: complete JSON; if the dump broke off, its part that was completed.
DumpReading read_dump_json(std::string_view text, bool broken_off);

// A dump that was not read at all, and why.
DumpedFact refused_dump(std::string_view form, std::string reason);

}  // namespace faultline
