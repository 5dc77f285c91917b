// A small file that the harness and the shim in the server's process both map. The harness says
// which calls shall fail; the shim counts which did, so that a round can prove that its fault
// struck.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace faultline::faults {

// The environment variables that the shim reads.
inline constexpr const char* kControlVariable = "FAULTLINE_FAULTS_CONTROL";
inline constexpr const char* kFolderVariable = "FAULTLINE_FAULTS_FOLDER";
inline constexpr const char* kJournalVariable = "FAULTLINE_FAULTS_JOURNAL";  // unset: none is kept

// Kinds of calls on files below the folder.
enum class Call : std::uint8_t { open, read, write, sync, truncate, remove, rename, allocate };
inline constexpr std::size_t kCalls = 8;

// Chances are numbers out of this one.
inline constexpr std::uint32_t kAlways = 1'000'000;

struct CallFault {
  std::atomic<std::uint32_t> chance;
  std::atomic<std::int32_t> error;  // errno
  std::atomic<std::uint64_t> struck;
};

// A file as the journal knows it. Its number outlives the server's process, and a file that is made
// anew under the same name has another.
struct JournalFile {
  char name[60];
  std::uint32_t number;  // 0: free
};

// Has only members that two processes can share without locks. Starts as zeros: nothing fails.
struct Control {
  CallFault calls[kCalls];
  std::atomic<std::uint64_t> seed;   // decides with `draws` which calls are struck
  std::atomic<std::uint64_t> draws;  // decisions so far

  // A full disk still accepts overwrites: only writes that make a file longer fail.
  std::atomic<std::uint32_t> only_growth;

  std::atomic<std::uint32_t> short_write_chance;
  std::atomic<std::uint64_t> short_writes;

  // The process is killed before this write, counted from now; 0: never.
  std::atomic<std::uint32_t> deadly_write;

  std::atomic<std::uint32_t> delay_us;  // before each write and sync
  std::atomic<std::uint64_t> delayed;

  std::atomic<std::int64_t> clock_offset_us;  // of CLOCK_REALTIME
  std::atomic<std::uint64_t> shifted_readings;

  std::atomic<std::uint32_t> no_memory_chance;  // of an allocation; counted in no_memory

  // Failures that the shim did not cause: the system itself had no more.
  std::atomic<std::uint64_t> no_space;
  std::atomic<std::uint64_t> no_descriptor;
  std::atomic<std::uint64_t> no_memory;

  // The journal's length; everything before it is complete.
  std::atomic<std::uint64_t> journal_bytes;
  // A disk that claims to have synced and has not, to test the harness itself.
  std::atomic<std::uint32_t> syncs_lie;
  std::uint32_t last_file_number;  // the shim's alone
  JournalFile files[32];           // the shim's alone
};

// An operation in the journal. A name or the bytes written follow its header.
enum class Deed : std::uint32_t { create, write, truncate, remove, rename, sync, sync_folder };

struct DeedHeader {
  Deed deed;
  std::uint32_t file;  // its number; unused for remove, rename and sync_folder
  // write: the place; truncate: the new length; syncs: the journal's length when they began;
  // rename: the length of the first of its two names
  std::uint64_t offset;
  std::uint64_t size;  // of what follows
};

}  // namespace faultline::faults
