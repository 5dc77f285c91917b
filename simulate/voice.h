// The prefixes of a process's NCCL lines.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "model/time.h"
#include "simulate/plan.h"

namespace faultline::simulation {

class Voice {
 public:
  Voice(std::string host, std::int64_t pid, int device, const NcclVersion& version)
      : host_(std::move(host)), pid_(pid), device_(device), version_(version) {}

  const NcclVersion& version() const { return version_; }
  std::int64_t pid() const { return pid_; }
  int device() const { return device_; }

  std::int64_t thread(Thread thread, int slot = 0) const;

  // host:pid:tid [dev] NCCL INFO
  std::string info_prefix(Thread thread, int slot = 0) const;

  template <class... Arguments>
  void info(std::string& out, Thread thread, int slot, fmt::format_string<Arguments...> format,
            Arguments&&... arguments) const {
    out += info_prefix(thread, slot);
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
    out += '\n';
  }

  void say(std::string& out, const Words& words, Timestamp now) const;

 private:
  std::string host_;
  std::int64_t pid_;
  int device_;
  NcclVersion version_;
};

}  // namespace faultline::simulation
