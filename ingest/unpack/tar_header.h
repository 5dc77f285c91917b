// The blocks that describe the members of a tar archive: ustar, GNU's and POSIX.1-2001's (pax).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline::unpacking {

inline constexpr std::size_t kTarBlock = 512;

// Whether a file that begins so can still turn out to be a tar archive; from 263 bytes on the
// answer includes the magic number. An archive whose first member has a newline in its name is not
// recognised: text must not be held up.
bool could_be_tar_header(std::string_view start);

// The functions below take one whole block.
bool has_valid_checksum(std::string_view block);
bool is_zero(std::string_view block);

struct TarHeader {
  std::string name;
  std::uint64_t size = 0;  // as the field says; links and folders may name one and yet have no data
  char type = '0';
  bool extended_sparse = false;  // another block of GNU's sparse map follows
};

// nullopt: damaged.
std::optional<TarHeader> parse_tar_header(std::string_view block);

// GNU's old sparse format: a block of the map that says another one follows.
bool sparse_map_continues(std::string_view block);

// What a pax header says of the member after it.
struct PaxRecords {
  std::optional<std::string> path;
  std::optional<std::uint64_t> size;
  bool sparse = false;
};

// "30 path=some/very/long/name\n…"; nullopt: damaged.
std::optional<PaxRecords> parse_pax(std::string_view records);

}  // namespace faultline::unpacking
