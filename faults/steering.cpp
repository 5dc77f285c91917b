#include "faults/steering.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace faultline::faults {

Steering::Steering(std::filesystem::path file) : file_(std::move(file)) {
  const int descriptor = ::open(file_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  void* mapped = MAP_FAILED;
  if (descriptor >= 0 && ::ftruncate(descriptor, sizeof(Control)) == 0)
    mapped = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (descriptor >= 0) ::close(descriptor);
  if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), file_.string());
  control_ = static_cast<Control*>(mapped);
}

Steering::~Steering() { ::munmap(control_, sizeof(Control)); }

void Steering::set_seed(std::uint64_t seed) {
  control_->seed = seed;
  control_->draws = 0;
}

void Steering::fail(Call call, int error, std::uint32_t chance) {
  CallFault& fault = control_->calls[static_cast<std::size_t>(call)];
  fault.error = error;
  fault.chance = chance;
}

void Steering::fill_disk() {
  control_->only_growth = 1;
  for (const Call call : {Call::write, Call::truncate, Call::allocate}) fail(call, ENOSPC);
}

void Steering::make_read_only() {
  for (const Call call : {Call::open, Call::write, Call::sync, Call::truncate, Call::remove,
                          Call::rename, Call::allocate})
    fail(call, EROFS);
}

void Steering::cut_writes_short(std::uint32_t chance) { control_->short_write_chance = chance; }

void Steering::refuse_memory(std::uint32_t chance) { control_->no_memory_chance = chance; }

void Steering::slow_down(std::chrono::microseconds each) {
  control_->delay_us = static_cast<std::uint32_t>(each.count());
}

void Steering::kill_in_write(std::uint32_t number) { control_->deadly_write = number; }

void Steering::shift_clock(std::chrono::microseconds offset) {
  control_->clock_offset_us = offset.count();
}

void Steering::let_syncs_lie() { control_->syncs_lie = 1; }

void Steering::relent() {
  for (CallFault& fault : control_->calls) fault.chance = 0;
  control_->only_growth = 0;
  control_->short_write_chance = 0;
  control_->delay_us = 0;
  control_->deadly_write = 0;
  control_->no_memory_chance = 0;
}

std::uint64_t Steering::struck() const {
  std::uint64_t all = control_->short_writes + control_->delayed;
  for (const CallFault& fault : control_->calls) all += fault.struck;
  return all;
}

}  // namespace faultline::faults
