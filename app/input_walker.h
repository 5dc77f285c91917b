// What `faultline diagnose PATH...` is to read: files as they are, the files of folders, stdin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/result.h"
#include "model/time.h"

namespace faultline {

struct InputFile {
  static constexpr const char* kStdin = "-";

  std::string name;                   // what the answer calls it
  std::string path;                   // what to open, or kStdin
  std::optional<std::uint64_t> size;  // of a pipe nobody knows it
  Timestamp changed;                  // of a pipe: now

  bool operator==(const InputFile&) const = default;
};

struct Inputs {
  std::vector<InputFile> files;  // per argument by name; of a rotated log the oldest part first
  std::vector<std::string> warnings;  // what in a folder could not be looked at
};

// Folders are walked through symbolic links, too, but nothing is read twice, however many ways lead
// to it; what is neither file nor folder is passed over there. An argument itself may be a pipe.
//
// The files of a folder are called by their path below it if it is the only argument; with others
// beside it the argument comes first, so that names differ and no host's name is lost.
//
// An argument that cannot be read is an error; so is finding no file at all.
Result<Inputs> find_inputs(const std::vector<std::string>& arguments, Timestamp now);

}  // namespace faultline
