// A library that is preloaded into the server (LD_PRELOAD). Calls on files below one folder fail,
// wait or are noted in a journal, as the file of control.h says; allocations may fail, and the
// clock may be shifted. Every other call passes unchanged. The server's own process runs this, so
// it throws nothing, allocates nothing and reads no environment variable after its start.
#include "faults/control.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string_view>

// glibc's own names of malloc() and its relatives.
extern "C" {
void* __libc_malloc(std::size_t size);                       // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);    // NOLINT
void* __libc_realloc(void* block, std::size_t size);         // NOLINT
void* __libc_memalign(std::size_t align, std::size_t size);  // NOLINT
}

namespace faultline::faults {
namespace {

// What a descriptor stands for.
constexpr std::uint32_t kNotOurs = 0;
constexpr std::uint32_t kUnjournaled = 1;  // ours, and lost with the power: shared memory, locks
constexpr std::uint32_t kFolder = 2;
constexpr std::uint32_t kFirstFile = 16;  // from here on: a file's number in the journal

constexpr std::size_t kMostDescriptors = 65536;

Control* control = nullptr;  // null: before the start, or not steered at all
std::array<char, PATH_MAX> folder{};
std::size_t folder_length = 0;
int journal = -1;
// Held during an operation and its note, so that the journal has the operations in their order.
std::mutex journal_mutex;
std::array<std::atomic<std::uint32_t>, kMostDescriptors> meaning_of{};

template <class Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The function that would have been called without us.
#define NEXT(name) (static_cast<decltype(&::name)>(next_##name()))
#define DECLARE_NEXT(name)                                      \
  decltype(&::name) next_##name() {                             \
    static const auto found = next_of<decltype(::name)>(#name); \
    return found;                                               \
  }

DECLARE_NEXT(open64)
DECLARE_NEXT(openat64)
DECLARE_NEXT(close)
DECLARE_NEXT(read)
DECLARE_NEXT(pread64)
DECLARE_NEXT(write)
DECLARE_NEXT(pwrite64)
DECLARE_NEXT(fsync)
DECLARE_NEXT(fdatasync)
DECLARE_NEXT(ftruncate64)
DECLARE_NEXT(unlink)
DECLARE_NEXT(unlinkat)
DECLARE_NEXT(rename)
DECLARE_NEXT(posix_fallocate64)
DECLARE_NEXT(fallocate64)
DECLARE_NEXT(accept)
DECLARE_NEXT(accept4)

// splitmix64: the same seed and the same order of calls give the same faults.
std::uint64_t draw() {
  std::uint64_t x = control->seed + 0x9E3779B97F4A7C15U * (1 + control->draws++);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

bool happens(std::uint32_t chance) {
  if (chance == 0) return false;
  return chance >= kAlways || draw() % kAlways < chance;
}

// True: the call fails, and errno says why.
bool fails(Call call) {
  CallFault& fault = control->calls[static_cast<std::size_t>(call)];
  if (!happens(fault.chance)) return false;
  ++fault.struck;
  errno = fault.error;
  return true;
}

void wait_if_slow() {
  const std::uint32_t delay = control->delay_us;
  if (delay == 0) return;
  ++control->delayed;
  usleep(delay);
}

// Counts a call that was let through if it failed for lack of something.
template <class Number>
Number noted(Number result) {
  if (control == nullptr || result >= 0) return result;
  if (errno == ENOSPC) ++control->no_space;
  if (errno == EMFILE || errno == ENFILE) ++control->no_descriptor;
  return result;
}

// The path within our folder; "" for the folder itself; null for what is not ours.
const char* name_within(const char* path) {
  if (control == nullptr || std::strncmp(path, folder.data(), folder_length) != 0) return nullptr;
  const char* rest = path + folder_length;
  if (*rest == '\0') return rest;
  return *rest == '/' ? rest + 1 : nullptr;
}

std::uint32_t meaning(int descriptor) {
  if (control == nullptr || descriptor < 0 ||
      static_cast<std::size_t>(descriptor) >= kMostDescriptors)
    return kNotOurs;
  return meaning_of[static_cast<std::size_t>(descriptor)];
}

void set_meaning(int descriptor, std::uint32_t meaning) {
  if (descriptor >= 0 && static_cast<std::size_t>(descriptor) < kMostDescriptors)
    meaning_of[static_cast<std::size_t>(descriptor)] = meaning;
}

[[noreturn]] void give_up(const char* why) {
  static_cast<void>(!::syscall(SYS_write, STDERR_FILENO, why, std::strlen(why)));
  std::abort();
}

// Call with the mutex held, after the deed.
void note(const DeedHeader& header, const void* first, std::size_t first_size,
          const void* second = nullptr) {
  iovec parts[3] = {{const_cast<DeedHeader*>(&header), sizeof header},
                    {const_cast<void*>(first), first_size},
                    {const_cast<void*>(second), header.size - first_size}};
  const auto whole = static_cast<long>(sizeof header + header.size);
  if (::syscall(SYS_writev, journal, parts, 3) != whole) give_up("the journal cannot be written\n");
  control->journal_bytes += static_cast<std::uint64_t>(whole);
}

JournalFile* find_file(std::string_view name) {
  for (JournalFile& file : control->files)
    if (file.number != 0 && name == file.name) return &file;
  return nullptr;
}

std::uint32_t make_file(std::string_view name) {
  JournalFile* place = find_file(name);
  for (JournalFile& file : control->files)
    if (place == nullptr && file.number == 0) place = &file;
  if (place == nullptr || name.size() >= sizeof place->name)
    give_up("the folder holds more files, or longer names, than the journal has room for\n");
  std::memcpy(place->name, name.data(), name.size());
  place->name[name.size()] = '\0';
  place->number = kFirstFile + ++control->last_file_number;
  return place->number;
}

// What SQLite shares between connections, and our lock, mean nothing after a power cut.
bool is_lost_with_the_power(std::string_view name) {
  return name.ends_with("-shm") || name.ends_with(".lock");
}

// `existed`: whether the file existed before it was opened.
std::uint32_t meaning_of_opened(const char* name, bool existed) {
  if (*name == '\0') return kFolder;
  if (journal < 0 || is_lost_with_the_power(name)) return kUnjournaled;
  if (const JournalFile* known = find_file(name); known != nullptr && existed) return known->number;
  const std::uint32_t number = make_file(name);
  const std::size_t size = std::strlen(name);
  note({.deed = Deed::create, .file = number, .offset = 0, .size = size}, name, size);
  return number;
}

int open_ours(const char* path, const char* name, int flags, mode_t mode) {
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  if (writes && fails(Call::open)) return -1;
  const std::lock_guard lock(journal_mutex);
  struct stat before;
  const bool existed = ::stat(path, &before) == 0;
  const int descriptor = noted(NEXT(open64)(path, flags, mode));
  if (descriptor >= 0) set_meaning(descriptor, meaning_of_opened(name, existed));
  return descriptor;
}

int open_any(const char* path, int flags, mode_t mode) {
  if (const char* name = name_within(path)) return open_ours(path, name, flags, mode);
  return noted(NEXT(open64)(path, flags, mode));
}

bool grows(int descriptor, off64_t end) {
  struct stat64 now;
  return ::fstat64(descriptor, &now) != 0 || end > now.st_size;
}

void die_if_it_is_time() {
  std::uint32_t left = control->deadly_write;
  while (left > 0 && !control->deadly_write.compare_exchange_weak(left, left - 1)) {
  }
  if (left == 1) ::kill(::getpid(), SIGKILL);
}

// How many bytes of a write go to the disk; 0: it fails.
std::size_t let_through(int descriptor, std::size_t size, off64_t offset) {
  die_if_it_is_time();
  wait_if_slow();
  const bool spared =
      control->only_growth != 0 && !grows(descriptor, offset + static_cast<off64_t>(size));
  if (!spared && fails(Call::write)) return 0;
  if (size > 1 && happens(control->short_write_chance)) {
    ++control->short_writes;
    return 1 + draw() % (size - 1);
  }
  return size;
}

template <class Write>
ssize_t write_ours(int descriptor, const void* bytes, std::size_t size, off64_t offset,
                   const Write& write) {
  if (size == 0) return write(size);
  const std::size_t allowed = let_through(descriptor, size, offset);
  if (allowed == 0) return -1;
  const std::uint32_t file = meaning(descriptor);
  if (journal < 0 || file < kFirstFile) return noted(write(allowed));
  const std::lock_guard lock(journal_mutex);
  const ssize_t written = noted(write(allowed));
  if (written > 0) {
    const auto count = static_cast<std::size_t>(written);
    note({.deed = Deed::write,
          .file = file,
          .offset = static_cast<std::uint64_t>(offset),
          .size = count},
         bytes, count);
  }
  return written;
}

template <class Sync>
int sync_ours(int descriptor, const Sync& sync) {
  wait_if_slow();
  if (fails(Call::sync)) return -1;
  const std::uint32_t file = meaning(descriptor);
  std::uint64_t began = 0;
  {
    // The sync need not include what is written from now on.
    const std::lock_guard lock(journal_mutex);
    began = control->journal_bytes;
  }
  // With a journal, the journal is the disk: waiting for the real one would gain nothing.
  const int result = journal < 0 ? noted(sync(descriptor)) : 0;
  if (result != 0 || journal < 0 || file == kUnjournaled || control->syncs_lie != 0) return result;
  const std::lock_guard lock(journal_mutex);
  const Deed deed = file == kFolder ? Deed::sync_folder : Deed::sync;
  note({.deed = deed, .file = file, .offset = began, .size = 0}, nullptr, 0);
  return result;
}

int truncate_ours(int descriptor, off64_t length) {
  const bool spared = control->only_growth != 0 && !grows(descriptor, length);
  if (!spared && fails(Call::truncate)) return -1;
  const std::uint32_t file = meaning(descriptor);
  const std::lock_guard lock(journal_mutex);
  const int result = noted(NEXT(ftruncate64)(descriptor, length));
  if (result == 0 && journal >= 0 && file >= kFirstFile)
    note({.deed = Deed::truncate,
          .file = file,
          .offset = static_cast<std::uint64_t>(length),
          .size = 0},
         nullptr, 0);
  return result;
}

template <class Remove>
int remove_ours(const char* name, const Remove& remove) {
  if (fails(Call::remove)) return -1;
  const std::lock_guard lock(journal_mutex);
  const int result = remove();
  if (result != 0 || journal < 0 || is_lost_with_the_power(name)) return result;
  if (JournalFile* file = find_file(name)) file->number = 0;
  const std::size_t size = std::strlen(name);
  note({.deed = Deed::remove, .file = 0, .offset = 0, .size = size}, name, size);
  return result;
}

int rename_ours(const char* from, const char* to, const char* from_name, const char* to_name) {
  if (fails(Call::rename)) return -1;
  const std::lock_guard lock(journal_mutex);
  const int result = noted(NEXT(rename)(from, to));
  if (result != 0 || journal < 0) return result;
  // The journal does not know files outside the folder; the server never renames across its border.
  if (from_name == nullptr || to_name == nullptr) give_up("a file crosses the folder's border\n");
  if (JournalFile* covered = find_file(to_name)) covered->number = 0;
  if (JournalFile* file = find_file(from_name)) {
    const std::uint32_t number = file->number;
    file->number = 0;
    make_file(to_name);
    find_file(to_name)->number = number;
  }
  const std::size_t first = std::strlen(from_name);
  const std::size_t second = std::strlen(to_name);
  note({.deed = Deed::rename, .file = 0, .offset = first, .size = first + second}, from_name, first,
       to_name);
  return result;
}

template <class Allocate>
void* allocated(std::size_t size, const Allocate& allocate) {
  const bool fails = control != nullptr && happens(control->no_memory_chance);
  void* block = fails ? nullptr : allocate();
  if (block != nullptr || size == 0 || control == nullptr) return block;
  ++control->no_memory;
  errno = ENOMEM;
  return nullptr;
}

std::int64_t clock_offset_us() {
  if (control == nullptr) return 0;
  const std::int64_t offset = control->clock_offset_us;
  if (offset != 0) ++control->shifted_readings;
  return offset;
}

// Runs before the server's main().
__attribute__((constructor)) void start() {
  // The server dies with the harness.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* control_file = std::getenv(kControlVariable);
  const char* our_folder = std::getenv(kFolderVariable);
  if (control_file == nullptr || our_folder == nullptr) return;
  const int descriptor = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, control_file, O_RDWR));
  if (descriptor < 0) give_up("the control file cannot be opened\n");
  void* mapped =
      ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::syscall(SYS_close, descriptor);
  if (mapped == MAP_FAILED) give_up("the control file cannot be mapped\n");
  folder_length = std::strlen(our_folder);
  if (folder_length >= folder.size()) give_up("the folder's name is too long\n");
  std::memcpy(folder.data(), our_folder, folder_length);
  auto* found = static_cast<Control*>(mapped);
  if (const char* journal_file = std::getenv(kJournalVariable)) {
    journal = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, journal_file,
                                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    // A server that was killed while it wrote a note left half of it.
    if (journal < 0 || ::syscall(SYS_ftruncate, journal, found->journal_bytes.load()) != 0)
      give_up("the journal cannot be opened\n");
  }
  control = found;
}

}  // namespace
}  // namespace faultline::faults

using namespace faultline::faults;  // NOLINT

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_any(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_any(path, flags, mode);
}

int openat(int at, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (const char* name = name_within(path)) return open_ours(path, name, flags, mode);
  return noted(NEXT(openat64)(at, path, flags, mode));
}

int openat64(int at, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (const char* name = name_within(path)) return open_ours(path, name, flags, mode);
  return noted(NEXT(openat64)(at, path, flags, mode));
}

int close(int descriptor) {
  set_meaning(descriptor, kNotOurs);
  return NEXT(close)(descriptor);
}

ssize_t read(int descriptor, void* bytes, std::size_t size) {
  if (meaning(descriptor) != kNotOurs && fails(Call::read)) return -1;
  return NEXT(read)(descriptor, bytes, size);
}

ssize_t pread64(int descriptor, void* bytes, std::size_t size, off64_t offset) {
  if (meaning(descriptor) != kNotOurs && fails(Call::read)) return -1;
  return NEXT(pread64)(descriptor, bytes, size, offset);
}

ssize_t pread(int descriptor, void* bytes, std::size_t size, off_t offset) {
  return pread64(descriptor, bytes, size, offset);
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  if (meaning(descriptor) == kNotOurs) return NEXT(write)(descriptor, bytes, size);
  const off64_t offset = ::lseek64(descriptor, 0, SEEK_CUR);
  return write_ours(descriptor, bytes, size, offset,
                    [&](std::size_t allowed) { return NEXT(write)(descriptor, bytes, allowed); });
}

ssize_t pwrite64(int descriptor, const void* bytes, std::size_t size, off64_t offset) {
  if (meaning(descriptor) == kNotOurs) return NEXT(pwrite64)(descriptor, bytes, size, offset);
  return write_ours(descriptor, bytes, size, offset, [&](std::size_t allowed) {
    return NEXT(pwrite64)(descriptor, bytes, allowed, offset);
  });
}

ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t offset) {
  return pwrite64(descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
  if (meaning(descriptor) == kNotOurs) return NEXT(fsync)(descriptor);
  return sync_ours(descriptor, NEXT(fsync));
}

int fdatasync(int descriptor) {
  if (meaning(descriptor) == kNotOurs) return NEXT(fdatasync)(descriptor);
  return sync_ours(descriptor, NEXT(fdatasync));
}

int ftruncate64(int descriptor, off64_t length) noexcept {
  if (meaning(descriptor) == kNotOurs) return NEXT(ftruncate64)(descriptor, length);
  return truncate_ours(descriptor, length);
}

int ftruncate(int descriptor, off_t length) noexcept { return ftruncate64(descriptor, length); }

int unlink(const char* path) noexcept {
  const auto remove = [&] { return NEXT(unlink)(path); };
  const char* name = name_within(path);
  return name == nullptr ? remove() : remove_ours(name, remove);
}

int unlinkat(int at, const char* path, int flags) noexcept {
  const auto remove = [&] { return NEXT(unlinkat)(at, path, flags); };
  const char* name = name_within(path);
  return name == nullptr ? remove() : remove_ours(name, remove);
}

int rename(const char* from, const char* to) noexcept {
  const char* from_name = name_within(from);
  const char* to_name = name_within(to);
  if (from_name == nullptr && to_name == nullptr) return NEXT(rename)(from, to);
  return rename_ours(from, to, from_name, to_name);
}

// Not in the journal: preallocated room is no content. It matters only if the file grows, and
// SQLite preallocates only if it is told to, which we do not.
int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
  if (meaning(descriptor) != kNotOurs && fails(Call::allocate)) return errno;
  return NEXT(posix_fallocate64)(descriptor, offset, length);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
  if (meaning(descriptor) != kNotOurs && fails(Call::allocate)) return -1;
  return NEXT(fallocate64)(descriptor, mode, offset, length);
}

int accept(int socket, sockaddr* address, socklen_t* size) {
  return noted(NEXT(accept)(socket, address, size));
}

int accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  return noted(NEXT(accept4)(socket, address, size, flags));
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  const std::int64_t offset = clock_offset_us();
  if (offset == 0) return result;
  const std::int64_t us = time->tv_sec * 1'000'000 + time->tv_nsec / 1000 + offset;
  time->tv_sec = us / 1'000'000;
  time->tv_nsec = us % 1'000'000 * 1000;
  return result;
}

int gettimeofday(timeval* time, void*) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* out) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

void* malloc(std::size_t size) noexcept {
  return allocated(size, [&] { return __libc_malloc(size); });
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  return allocated(count, [&] { return __libc_calloc(count, size); });
}

void* realloc(void* block, std::size_t size) noexcept {
  return allocated(size, [&] { return __libc_realloc(block, size); });
}

void* aligned_alloc(std::size_t align, std::size_t size) noexcept {
  return allocated(size, [&] { return __libc_memalign(align, size); });
}

}  // extern "C"
