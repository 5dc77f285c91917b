#include "parsers/kernel/kernel_xid.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "model/pci_address.h"
#include "parsers/pattern.h"
#include "parsers/scan.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

constexpr std::string_view kTag = "NVRM: ";
constexpr int kFallenOffTheBus = 79;

using tool_text::trimmed;

// rsyslog writes a newline inside a message as #012.
std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.find("#012")));
}

// "pid=1234, name=python3, ", only one of the two, or "pid='<unknown>', name=<unknown>, ". A field
// without a comma after it may be cut, so it is ignored.
void read_process(Scan& in, GpuXid& xid) {
  constexpr std::string_view kUnknown = "<unknown>";
  std::string_view field;
  if (in.skip("pid=")) {
    if (!in.until(',', field)) {
      in = Scan({});
      return;
    }
    Scan digits(field);
    std::int64_t pid = 0;
    if (digits.decimal(pid) && digits.done()) xid.pid = pid;
    in.skip(" ");
  }
  if (in.skip("name=")) {
    if (!in.until(',', field)) {
      in = Scan({});
      return;
    }
    if (field != kUnknown) xid.process = field;
  }
}

// "channel 0x00000010 caused by previous Xid 31"
void read_detail(std::string_view text, GpuXid& xid) {
  constexpr std::string_view kCause = " caused by previous Xid ";
  text = trimmed(text);
  if (const std::size_t at = text.rfind(kCause); at != std::string_view::npos) {
    Scan in(text.substr(at + kCause.size()));
    int cause = 0;
    if (in.decimal(cause) && in.done()) {
      xid.caused_by = cause;
      text = text.substr(0, at);
    }
  }
  xid.detail = text;
}

// "0000:3b:00", "PCI:0000:3b:00", "PCI:0000:3b:00 GPU-I:02 GPU-CI:00"
bool read_where(std::string_view text, GpuXid& xid) {
  Scan in(text);
  in.skip("PCI:");
  auto gpu = normal_pci(in.word());
  if (!gpu) return false;
  xid.gpu = std::move(*gpu);
  if (in.skip(" GPU-I:") && !in.decimal(xid.gpu_instance.emplace())) return false;
  if (in.skip(" GPU-CI:") && !in.decimal(xid.compute_instance.emplace())) return false;
  return in.done();
}

std::optional<Fact> read_xid(std::string_view line) {
  Scan in(line);
  std::string_view where;
  GpuXid xid;
  if (!in.skip("Xid (") || !in.until(')', where) || !read_where(where, xid)) return {};
  // The driver prints a comma even if nothing follows. Without it the line was cut, and its 7 may
  // be a cut 79.
  if (!in.skip(": ") || !in.decimal(xid.code) || !in.skip(",")) return {};
  in.skip(" ");
  read_process(in, xid);
  read_detail(in.rest(), xid);
  return xid;
}

Fact fallen_off_the_bus(std::string gpu, std::string_view detail) {
  return GpuXid{.gpu = std::move(gpu),
                .code = kFallenOffTheBus,
                .detail = std::string(trimmed(detail)),
                .xid_line = false};
}

// A serial number or UUID at the end of a record. If it has other characters, it was shortened or
// garbled, and a part of a number would point to the wrong board.
std::string_view identifier(std::string_view text) {
  constexpr std::string_view kCharacters =
      "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  text = trimmed(text);
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.find_first_not_of(kCharacters) != std::string_view::npos) return {};
  return text;
}

std::optional<Fact> read_serial(std::string_view text, std::string gpu) {
  const std::string_view serial = identifier(text);
  if (serial.empty()) return {};
  return GpuIdentity{.gpu = std::move(gpu), .serial = std::string(serial)};
}

// GPU at PCI:0000:3b:00: GPU-5d0e11aa-…
// GPU at 0000:3b:00.0 has fallen off the bus.   (drivers before 400)
// GPU 0000:3b:00.0: GPU has fallen off the bus.
// GPU 0000:3b:00.0: GPU serial number is 1652823055814.
// GPU Board Serial Number: 1652823055814
std::optional<Fact> read_gpu_line(std::string_view line) {
  Scan in(line);
  if (in.skip("GPU Board Serial Number: ")) return read_serial(in.rest(), {});
  if (!in.skip("GPU ")) return {};
  in.skip("at ");
  in.skip("PCI:");
  std::string_view address = in.word();
  if (address.ends_with(':')) address.remove_suffix(1);
  auto gpu = normal_pci(address);
  if (!gpu || !in.skip(" ")) return {};

  if (in.rest().starts_with("GPU has fallen off the bus") ||
      in.rest().starts_with("has fallen off the bus"))
    return fallen_off_the_bus(std::move(*gpu), in.rest());
  if (in.skip("GPU serial number is ")) return read_serial(in.rest(), std::move(*gpu));

  constexpr std::size_t kUuidSize = sizeof("GPU-00000000-0000-0000-0000-000000000000") - 1;
  const std::string_view uuid = identifier(in.rest());
  if (!uuid.starts_with("GPU-") || uuid.size() != kUuidSize) return {};
  return GpuIdentity{.gpu = std::move(*gpu), .uuid = std::string(uuid)};
}

// When the driver starts, it reports a dead GPU in one record of three lines. The first line also
// begins the record of a GPU that this driver does not support, so alone it only names the GPU. If
// a log has split the record, the last line must be joined to the first.
std::optional<Fact> read_dead_at_start(std::string_view line, std::string_view text) {
  static const Pattern pattern(
      R"(^The NVIDIA GPU ([0-9a-fA-F:.]+)(?:\s|#012|NVRM: )+\(PCI ID: [0-9a-fA-F:]+\))"
      R"((?:\s|#012|NVRM: )+installed in this system has)"
      R"((?:\s|#012|NVRM: )+(fallen off the bus[^\r\n]*))");
  std::string_view address;
  std::string_view detail;
  if (!pattern.find(text, &address, &detail)) {
    auto named = normal_pci(trimmed(line.substr(std::string_view("The NVIDIA GPU ").size())));
    if (!named) return {};
    return GpuIdentity{.gpu = std::move(*named)};
  }
  auto gpu = normal_pci(address);
  if (!gpu) return {};
  return fallen_off_the_bus(std::move(*gpu), detail);
}

// loading NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 …
// loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build …
std::optional<Fact> read_loading(std::string_view line) {
  GpuDriver driver{.loaded = true};
  Scan in(line);
  while (!in.done()) {
    in.skip_blanks();
    const std::string_view word = in.word();
    const bool dotted = word.find('.') != std::string_view::npos &&
                        word.find_first_not_of(".0123456789") == std::string_view::npos;
    if (!dotted) continue;
    driver.version = word;
    break;
  }
  return driver;
}

// `line` is the first of the lines in `text`.
std::optional<Fact> read_record(std::string_view line, std::string_view text) {
  if (line.starts_with("Xid (")) return read_xid(line);
  if (line.starts_with("GPU ")) return read_gpu_line(line);
  if (line.starts_with("loading NVIDIA UNIX ")) return read_loading(line);
  if (line.starts_with("The NVIDIA GPU ")) return read_dead_at_start(line, text);
  if (line.starts_with("fallen off the bus and is not responding"))
    return fallen_off_the_bus({}, line);
  return {};
}

}  // namespace

bool parse_nvrm(std::string_view text, std::vector<Reading>& readings) {
  std::size_t at = text.find(kTag);
  if (at == std::string_view::npos) return false;
  while (at != std::string_view::npos) {
    const std::size_t begin = at + kTag.size();
    at = text.find(kTag, begin);
    const std::string_view line = first_line(text.substr(begin, at - begin));
    auto fact = read_record(line, text.substr(begin));
    if (!fact) continue;
    // Skip the last line of a record that was already read as a whole.
    const auto* xid = std::get_if<GpuXid>(&*fact);
    if (xid != nullptr && xid->gpu.empty() && !readings.empty() &&
        std::holds_alternative<GpuXid>(readings.back().fact))
      continue;
    readings.push_back({.fact = std::move(*fact)});
  }
  return true;
}

bool parse_boot(std::string_view text, std::vector<Reading>& readings) {
  // These begin a line. If there is text before them, something quotes them.
  Scan in(text);
  HostBooted boot;
  if (in.skip("Linux version ")) {
    boot.kernel = trimmed(first_line(in.word()));
    if (boot.kernel.empty() || boot.kernel.front() < '0' || boot.kernel.front() > '9') return false;
  } else if (!in.skip("Booting Linux on physical CPU ")) {
    return false;
  }
  readings.push_back({.fact = std::move(boot)});
  return true;
}

}  // namespace faultline
