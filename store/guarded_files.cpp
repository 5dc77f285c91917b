#include "store/guarded_files.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace faultline {
namespace {

constexpr int kSumBytes = 8;

// Offsets in the header of a database: what it says of its pages.
constexpr int kPageSizeAt = 16;
constexpr int kReservedAt = 20;
constexpr int kHeaderBytes = 100;

// Why the last call of this thread failed. It allocates nothing: what a thread has to destroy when
// it ends makes glibc abort where there is no memory to note that down.
struct Complaint {
  std::array<char, PATH_MAX + 128> text;
  std::size_t length;
};
thread_local Complaint complaint;

template <class... T>
void complain(fmt::format_string<T...> format, T&&... values) {
  const auto end = fmt::format_to_n(complaint.text.data(), complaint.text.size(), format,
                                    std::forward<T>(values)...);
  complaint.length = std::min(end.size, complaint.text.size());
}

struct Identity {
  dev_t device = 0;
  ino_t node = 0;
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return Identity{found.st_dev, found.st_ino};
}

struct State {
  std::string path;  // empty: a temporary file
  std::optional<Identity> identity;
  bool is_database = false;
  int page_bytes = 0;  // 0: not known yet
  bool has_sums = false;
  std::vector<char> page;  // being written
};

// SQLite allocates it, and passes it as a pointer to its first member. The system's own file lies
// behind it in memory.
struct GuardedFile {
  sqlite3_file base;
  State* state;
  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

GuardedFile& guarded(sqlite3_file* file) { return *reinterpret_cast<GuardedFile*>(file); }
sqlite3_file* below(sqlite3_file* file) { return guarded(file).below(); }

// The offset is part of the sum: a page in the wrong place does not match either.
std::uint64_t sum_of(std::string_view content, sqlite3_int64 offset) {
  return XXH3_64bits_withSeed(content.data(), content.size(), static_cast<XXH64_hash_t>(offset));
}

std::uint64_t sum_in(const char* page, int bytes) {
  std::uint64_t sum = 0;
  std::memcpy(&sum, page + bytes - kSumBytes, kSumBytes);
  return sum;
}

std::uint64_t sum_for(const char* page, int bytes, sqlite3_int64 offset) {
  return sum_of({page, static_cast<std::size_t>(bytes - kSumBytes)}, offset);
}

void learn_of_pages(State& state, const char* header) {
  const auto byte = [&](int at) { return static_cast<unsigned char>(header[at]); };
  const int size = byte(kPageSizeAt) << 8 | byte(kPageSizeAt + 1);
  state.page_bytes = size == 1 ? 65536 : size;
  state.has_sums = byte(kReservedAt) == kSumBytes;
}

// Whether the first page has a sum although its header denies it: that byte may be damaged.
bool hides_its_sums(const char* first_page, int bytes) {
  std::vector<char> as_written(first_page, first_page + bytes);
  as_written[kReservedAt] = kSumBytes;
  return sum_in(as_written.data(), bytes) == sum_for(as_written.data(), bytes, 0);
}

// A page that nobody has written yet is all zeros, and sound.
bool is_sound(const State& state, const char* page, int bytes, sqlite3_int64 offset) {
  if (!state.has_sums) return offset > 0 || !hides_its_sums(page, bytes);
  return sum_in(page, bytes) == sum_for(page, bytes, offset) ||
         std::all_of(page, page + bytes, [](char c) { return c == '\0'; });
}

int close_file(sqlite3_file* file) {
  const std::unique_ptr<State> ends_with_it(guarded(file).state);
  return below(file)->pMethods->xClose(below(file));
}

int read_file(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
  const int code = below(file)->pMethods->xRead(below(file), to, bytes, offset);
  State& state = *guarded(file).state;
  if (code != SQLITE_OK || !state.is_database) return code;
  const auto* read = static_cast<const char*>(to);
  if (offset == 0 && bytes >= kHeaderBytes) learn_of_pages(state, read);
  if (bytes != state.page_bytes || offset % bytes != 0 || is_sound(state, read, bytes, offset))
    return code;
  complain("{}: is damaged (page {} does not match its checksum)", state.path, offset / bytes + 1);
  return SQLITE_IOERR_DATA;
}

int write_file(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
  State& state = *guarded(file).state;
  const auto* written = static_cast<const char*>(from);
  if (state.is_database && offset == 0 && bytes >= kHeaderBytes) learn_of_pages(state, written);
  const bool is_page = state.is_database && state.has_sums && bytes == state.page_bytes;
  if (!is_page) return below(file)->pMethods->xWrite(below(file), from, bytes, offset);
  state.page.assign(written, written + bytes);
  const std::uint64_t sum = sum_for(state.page.data(), bytes, offset);
  std::memcpy(state.page.data() + bytes - kSumBytes, &sum, kSumBytes);
  return below(file)->pMethods->xWrite(below(file), state.page.data(), bytes, offset);
}

// The path of the database, from its own path or that of its log.
std::string database_of(const std::string& path) {
  constexpr std::string_view kLog = "-wal";
  return path.ends_with(kLog) ? path.substr(0, path.size() - kLog.size()) : path;
}

struct Known {
  std::mutex mutex;
  std::map<std::string, Identity> databases;
};

Known& known() {
  static Known known;
  return known;
}

bool is_where_it_was(const State& state) {
  if (!state.identity) return true;
  if (identity_of(state.path) != state.identity) return false;
  const std::string database = database_of(state.path);
  if (database == state.path) return true;
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto found = all.databases.find(database);
  return found == all.databases.end() || identity_of(database) == found->second;
}

int sync_file(sqlite3_file* file, int flags) {
  const int code = below(file)->pMethods->xSync(below(file), flags);
  const State& state = *guarded(file).state;
  if (code != SQLITE_OK || is_where_it_was(state)) return code;
  complain(
      "{}: was removed or replaced while it was in use; put it back, or start the server again",
      database_of(state.path));
  return SQLITE_IOERR_FSYNC;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return below(file)->pMethods->xTruncate(below(file), size);
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return below(file)->pMethods->xFileSize(below(file), size);
}
int lock_file(sqlite3_file* file, int level) {
  return below(file)->pMethods->xLock(below(file), level);
}
int unlock_file(sqlite3_file* file, int level) {
  return below(file)->pMethods->xUnlock(below(file), level);
}
int check_lock(sqlite3_file* file, int* out) {
  return below(file)->pMethods->xCheckReservedLock(below(file), out);
}
int control_file(sqlite3_file* file, int what, void* value) {
  return below(file)->pMethods->xFileControl(below(file), what, value);
}
int sector_size(sqlite3_file* file) { return below(file)->pMethods->xSectorSize(below(file)); }
int characteristics(sqlite3_file* file) {
  return below(file)->pMethods->xDeviceCharacteristics(below(file));
}
int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return below(file)->pMethods->xShmMap(below(file), page, size, extend, out);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}
void barrier(sqlite3_file* file) { below(file)->pMethods->xShmBarrier(below(file)); }
int unmap_shared(sqlite3_file* file, int remove) {
  return below(file)->pMethods->xShmUnmap(below(file), remove);
}

// SQLite is written in C: an exception that passes through it leaves transactions half done.
template <auto call, class... Arguments>
int without_throwing(Arguments... arguments) noexcept {
  try {
    return call(arguments...);
  } catch (...) {
    return SQLITE_IOERR_NOMEM;
  }
}

// Version 2: no memory-mapped pages, which would bypass the checksums.
constexpr sqlite3_io_methods kMethods{
    .iVersion = 2,
    .xClose = close_file,
    .xRead = without_throwing<read_file>,
    .xWrite = without_throwing<write_file>,
    .xTruncate = truncate_file,
    .xSync = without_throwing<sync_file>,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* system_files() { return sqlite3_vfs_find(nullptr); }

void describe_file(State& state, const char* name, int flags) {
  if (name != nullptr) state.path = name;
  state.is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  const bool lasts = (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
  if (lasts && name != nullptr) state.identity = identity_of(state.path);
  if (!state.is_database || !state.identity) return;
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.databases[state.path] = *state.identity;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  GuardedFile& opened = guarded(file);
  opened.base.pMethods = nullptr;
  sqlite3_vfs* system = system_files();
  const int code = system->xOpen(system, name, opened.below(), flags, out_flags);
  if (opened.below()->pMethods == nullptr) return code;
  try {
    auto state = std::make_unique<State>();
    describe_file(*state, name, flags);
    opened.state = state.release();
  } catch (...) {
    opened.below()->pMethods->xClose(opened.below());
    return SQLITE_NOMEM;
  }
  opened.base.pMethods = &kMethods;
  return code;
}

}  // namespace

const char* guarded_files() {
  static sqlite3_vfs files = [] {
    sqlite3_vfs own = *system_files();
    own.zName = "faultline";
    own.szOsFile += static_cast<int>(sizeof(GuardedFile));
    own.xOpen = open_file;
    own.pNext = nullptr;
    return own;
  }();
  static const int registered = sqlite3_vfs_register(&files, 0);
  return registered == SQLITE_OK ? files.zName : nullptr;
}

void keep_checksums_of_pages(sqlite3* database) {
  int bytes = kSumBytes;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

bool has_checksums_of_pages(sqlite3* database) {
  int bytes = -1;  // only asks
  sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  return bytes == kSumBytes;
}

void expect_pages_as_in(sqlite3* original, sqlite3* copy) {
  const auto state_of = [](sqlite3* database) -> State& {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
    return *guarded(file).state;
  };
  const State& known = state_of(original);
  State& other = state_of(copy);
  other.page_bytes = known.page_bytes;
  other.has_sums = known.has_sums;
}

std::string take_complaint_about_files() {
  return {complaint.text.data(), std::exchange(complaint.length, 0)};
}

}  // namespace faultline
