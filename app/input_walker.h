// What `faultline diagnose PATH...` reads: files, the files of folders, stdin.
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
  std::optional<std::uint64_t> size;  // not known of a pipe
  Timestamp changed;                  // of a pipe: now

  bool operator==(const InputFile&) const = default;
};

struct Inputs {
  std::vector<InputFile> files;  // per argument by name; of a rotated log the oldest part first
  std::vector<std::string> warnings;  // which entries of folders could not be read
};

// Folders are searched through symbolic links, too, but nothing is read twice, however many ways
// lead to it. What is neither a file nor a folder is skipped there. An argument itself may be a
// pipe.
//
// If a folder is the only argument, its files are named by their path below it. If there are other
// arguments, the name begins with the argument, so that names differ and no host's name is lost.
//
// An argument that cannot be read is an error; so is finding no file at all.
Result<Inputs> find_inputs(const std::vector<std::string>& arguments, Timestamp now);

}  // namespace faultline
