// Reads what the kernel log says about the machine as a whole: when its GPU driver was unloaded,
// that it was told to stop, what time it was, and that lines were lost.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// nvidia-modeset: Unloading
// nvidia-nvlink: Unregistered Nvlink Core, major device number 236
// nvidia-uvm: Unloaded the UVM driver.
bool parse_driver_unloading(std::string_view text, std::vector<Reading>& readings);

// reboot: Restarting system
// kvm: exiting hardware virtualization
// systemd-shutdown[1]: Syncing filesystems and block devices.
bool parse_host_stopping(std::string_view text, std::vector<Reading>& readings);

// rtc_cmos 00:01: setting system clock to 2026-03-05T02:40:03 UTC (1772678403)
// audit: type=2000 audit(1772678403.312:1): state=initialized audit_enabled=0 res=1
bool parse_clock(std::string_view text, std::vector<Reading>& readings);

// Missed 123 kernel messages
// printk: 37 messages suppressed.
bool parse_lost_lines(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
