// What the harness and the shim in the server's process share: a small file that both have mapped.
// The harness says which calls shall fail; the shim counts which did, so that a round can prove
// that its fault struck.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace faultline::faults {

// Where the shim finds what it needs: names of environment variables.
inline constexpr const char* kControlVariable = "FAULTLINE_FAULTS_CONTROL";
inline constexpr const char* kFolderVariable = "FAULTLINE_FAULTS_FOLDER";
inline constexpr const char* kJournalVariable = "FAULTLINE_FAULTS_JOURNAL";  // unset: none is kept

// Kinds of calls on files below the folder.
enum class Call : std::uint8_t { open, read, write, sync, truncate, remove, rename, allocate };
inline constexpr std::size_t kCalls = 8;

// Chances are parts of this.
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

// Only what is free of locks in two processes. All of it begins as zeros: nothing fails.
struct Control {
  CallFault calls[kCalls];
  std::atomic<std::uint64_t> seed;   // decides with `draws` which calls are struck
  std::atomic<std::uint64_t> draws;  // decisions so far

  // A full disk still takes what overwrites: only writes that make a file longer fail.
  std::atomic<std::uint32_t> only_growth;

  std::atomic<std::uint32_t> short_write_chance;
  std::atomic<std::uint64_t> short_writes;

  // The process is killed before this write, counted from now; 0: before none.
  std::atomic<std::uint32_t> deadly_write;

  std::atomic<std::uint32_t> delay_us;  // before each write and sync
  std::atomic<std::uint64_t> delayed;

  std::atomic<std::int64_t> clock_offset_us;  // of CLOCK_REALTIME
  std::atomic<std::uint64_t> shifted_readings;

  std::atomic<std::uint32_t> no_memory_chance;  // of an allocation; counted in no_memory

  // What failed without our doing, because the system itself had no more.
  std::atomic<std::uint64_t> no_space;
  std::atomic<std::uint64_t> no_descriptor;
  std::atomic<std::uint64_t> no_memory;

  // The journal's length: all that stands before it is whole.
  std::atomic<std::uint64_t> journal_bytes;
  // A disk that says it has synced and has not: for trying the harness itself.
  std::atomic<std::uint32_t> syncs_lie;
  std::uint32_t last_file_number;  // the shim's alone
  JournalFile files[32];           // the shim's alone
};

// One deed in the journal. A name or the bytes written follow it.
enum class Deed : std::uint32_t { create, write, truncate, remove, rename, sync, sync_folder };

struct DeedHeader {
  Deed deed;
  std::uint32_t file;  // its number; none of remove, rename and sync_folder
  std::uint64_t
      offset;  // of write: where; of truncate: the length; of syncs: where the journal stood
               // when they began; of rename: the length of the first of its two names
  std::uint64_t size;  // of what follows
};

}  // namespace faultline::faults
