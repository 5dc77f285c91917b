// The disk as it may be after the power went, worked out from the shim's journal. What was synced
// is there. Of what was not, any part may be, in sectors, in any order; entries of the folder reach
// the disk in their order, as every file system with a journal has it, and only then outlive the
// cut.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "faults/control.h"
#include "faults/random.h"

namespace faultline::faults {

class PowerDisk {
 public:
  // `end`: how long the journal was with this deed. `content`: what follows the header.
  void apply(const DeedHeader& header, std::string_view content, std::uint64_t end);

  // True: something has not reached the disk for certain.
  bool has_unsynced() const;

  // Writes the files of a disk that lost its power now.
  void leave_behind(const std::filesystem::path& folder, Random& random) const;

 private:
  struct Change {  // of a file: what is written, or its new length
    bool truncates = false;
    std::uint64_t offset = 0;
    std::string bytes;
    std::uint64_t end = 0;  // the journal's
  };
  struct File {
    std::string durable;
    std::vector<Change> unsynced;
  };
  struct EntryChange {
    Deed deed = Deed::create;
    std::uint32_t file = 0;
    std::string name;
    std::string new_name;  // of a rename
    std::uint64_t end = 0;
  };
  using Entries = std::map<std::string, std::uint32_t>;

  void sync_file(File& file, std::uint64_t began);
  void sync_entries(std::uint64_t began);
  static void change(std::string& content, const Change& change);
  static void change(Entries& entries, const EntryChange& change);
  static std::string left_of(const File& file, Random& random);

  std::map<std::uint32_t, File> files_;
  Entries entries_;
  std::vector<EntryChange> unsynced_entries_;
};

// A journal, deed by deed.
class JournalReader {
 public:
  explicit JournalReader(const std::filesystem::path& file);

  std::uint64_t size() const { return bytes_.size(); }
  // How much of it has been applied.
  std::uint64_t position() const { return at_; }
  // Applies the next deed; false: there is none.
  bool apply_next(PowerDisk& disk);

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace faultline::faults
