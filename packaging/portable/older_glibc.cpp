// For FAULTLINE_PORTABLE: functions of a glibc newer than 2.34 that the static libraries of g++ 12
// use. A definition in the binary comes before glibc's, so the binary does not need the function on
// the machine (packaging/portable/check.sh).
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

namespace {

struct Search {
  ElfW(Addr) address;
  dl_find_object* found;
};

ElfW(Addr) start_of(const dl_phdr_info& object, const ElfW(Phdr) & part) {
  return object.dlpi_addr + part.p_vaddr;
}

void* pointer(ElfW(Addr) address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Whether the address is in this object, and where its frames are described.
int look_into(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* holds = nullptr;
  const ElfW(Phdr)* frames = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const ElfW(Addr) start = start_of(*object, part);
    if (part.p_type == PT_LOAD && search.address >= start && search.address < start + part.p_memsz)
      holds = &part;
    if (part.p_type == PT_GNU_EH_FRAME) frames = &part;
  }
  if (holds == nullptr || frames == nullptr) return 0;
  const ElfW(Addr) start = start_of(*object, *holds);
  *search.found = {};
  search.found->dlfo_map_start = pointer(start);
  search.found->dlfo_map_end = pointer(start + holds->p_memsz);
  search.found->dlfo_eh_frame = pointer(start_of(*object, *frames));
  return 1;
}

}  // namespace

extern "C" {

// GLIBC_2.35; the unwinder of libgcc_eh asks it for every frame that an exception goes through.
// Does what the unwinder did before: goes through the list of loaded objects. There are four, and
// none is loaded later.
__attribute__((visibility("hidden"))) int _dl_find_object(void* address,
                                                          dl_find_object* result) noexcept {
  Search search{reinterpret_cast<ElfW(Addr)>(address), result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}

// GLIBC_2.36; std::random_device of libstdc++ takes its numbers from it.
__attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getentropy(&number, sizeof number) != 0)
    std::abort();  // never fails on kernels of glibc 2.34
  return number;
}

}  // extern "C"
