// The disk as it may be after a power cut, worked out from the shim's journal. What was synced is
// there. Of the other changes any part may be there, in sectors and in any order. Entries of the
// folder reach the disk in their order, as with every journaling file system; those that have not
// reached it are lost.
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
  // `end`: the journal's length up to and including this deed. `content`: what follows the header.
  void apply(const DeedHeader& header, std::string_view content, std::uint64_t end);

  // Whether there is a change that may not have reached the disk.
  bool has_unsynced() const;

  // Writes the files as they are left if the power goes now.
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

// Reads a journal, one deed at a time.
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
