// Steers the shim in a server's process: sets what fails from now on, and reads what has failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "faults/control.h"

namespace faultline::faults {

class Steering {
 public:
  // Makes the control file; nothing fails yet.
  explicit Steering(std::filesystem::path file);
  ~Steering();
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

  const std::filesystem::path& file() const { return file_; }

  void set_seed(std::uint64_t seed);
  // `chance`: out of kAlways.
  void fail(Call call, int error, std::uint32_t chance = kAlways);
  // Fills the disk: overwrites still succeed, writes that make a file longer fail.
  void fill_disk();
  void make_read_only();
  void cut_writes_short(std::uint32_t chance);
  void refuse_memory(std::uint32_t chance);
  void slow_down(std::chrono::microseconds each);
  // kill -9 before the write of this number, counted from now.
  void kill_in_write(std::uint32_t number);
  void shift_clock(std::chrono::microseconds offset);
  void let_syncs_lie();

  // Nothing fails any more. The clock stays where it was moved to.
  void relent();

  // How often a fault struck, of all kinds together; only grows.
  std::uint64_t struck() const;
  std::uint64_t shifted_readings() const { return control_->shifted_readings; }
  std::uint64_t out_of_space() const { return control_->no_space; }
  std::uint64_t out_of_descriptors() const { return control_->no_descriptor; }
  std::uint64_t out_of_memory() const { return control_->no_memory; }
  std::uint64_t journal_bytes() const { return control_->journal_bytes; }

 private:
  std::filesystem::path file_;
  Control* control_;
};

}  // namespace faultline::faults
