// Writes the kernel log of one host: the lines of an ordinary week, or a storm of Xid 45 with ten
// other Xids in it. One real host printed 168,924 of them.
//
//   generate_kernel_log --megabytes 100 > kernel.log
//   generate_kernel_log --storm 170000 > storm.log
//
// The same flags give the same bytes.

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::array<std::string_view, 8> kGpus{"0000:18:00", "0000:2a:00", "0000:3a:00",
                                                "0000:5d:00", "0000:9a:00", "0000:ab:00",
                                                "0000:ba:00", "0000:db:00"};

// What a GPU host prints without anything being wrong.
constexpr std::array<std::string_view, 12> kOrdinary{
    "audit: type=1400 audit(1772678000.123:412): apparmor=\"ALLOWED\" operation=\"open\" "
    "profile=\"snap.node\" name=\"/proc/4211/status\" pid=4211 comm=\"node\"",
    "docker0: port 3(veth8a1c22f) entered blocking state",
    "docker0: port 3(veth8a1c22f) entered disabled state",
    "veth8a1c22f: entered promiscuous mode",
    "eth0: renamed from veth41b2c9d",
    "IPv6: ADDRCONF(NETDEV_CHANGE): veth8a1c22f: link becomes ready",
    "perf: interrupt took too long (2513 > 2500), lowering kernel.perf_event_max_sample_rate to "
    "79500",
    "nvidia-uvm: Loaded the UVM driver, major device number 505.",
    "EXT4-fs (nvme1n1p1): mounted filesystem with ordered data mode. Quota mode: none.",
    "systemd[1]: Started Session 4182 of User train.",
    "TCP: request_sock_TCP: Possible SYN flooding on port 29500. Sending cookies.  Check SNMP "
    "counters.",
    "mlx5_core 0000:1a:00.0 ens1f0np0: Link up"};

constexpr std::array<std::string_view, 10> kOthers{
    "79, pid=40213, name=python3, GPU has fallen off the bus.",
    "48, pid=40214, name=python3, An uncorrectable double bit error (DBE) has been detected on GPU",
    "31, pid=40215, name=python3, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS",
    "119, pid=40216, name=python3, Timeout after 6s of waiting for RPC response from GPU1 GSP!",
    "74, pid=40217, name=python3, NVLink: fatal error detected on link 4(0x10000, 0x0, 0x0, 0x0)",
    "64, pid=40218, name=python3, Row Remapper: Failed to remap row",
    "62, pid=40219, name=python3, 0000(0000) 00000000 00000000",
    "13, pid=40220, name=python3, Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0): Out Of "
    "Range Address",
    "109, pid=40221, name=python3, Ch 00000008, errorString CTX SWITCH TIMEOUT",
    "8, pid=40222, name=python3, Channel ID 00000008"};

// Plain dmesg: seconds since boot.
class Writer {
 public:
  void line(std::string_view text) {
    micros_ += 1 + random_() % 4000;
    std::array<char, 32> stamp{};
    std::snprintf(stamp.data(), stamp.size(), "[%5llu.%06llu] ",
                  static_cast<unsigned long long>(micros_ / 1'000'000),
                  static_cast<unsigned long long>(micros_ % 1'000'000));
    text_ += stamp.data();
    text_ += text;
    text_ += '\n';
    if (text_.size() > (1U << 20)) flush();
  }
  void flush() {
    written_ += text_.size();
    if (!std::cout.write(text_.data(), std::ssize(text_)))
      throw std::runtime_error("cannot write: is the disk full?");
    text_.clear();
  }
  std::uint64_t bytes() const { return written_ + text_.size(); }
  std::uint64_t chance(std::uint64_t below) { return random_() % below; }

 private:
  std::mt19937_64 random_{1};
  std::uint64_t micros_ = 4'000'000;
  std::uint64_t written_ = 0;
  std::string text_;
};

std::string xid(std::string_view gpu, std::string_view rest) {
  return "NVRM: Xid (PCI:" + std::string(gpu) + "): " + std::string(rest);
}

void ordinary_days(Writer& writer, std::uint64_t bytes) {
  while (writer.bytes() < bytes) writer.line(kOrdinary[writer.chance(kOrdinary.size())]);
}

void storm(Writer& writer, std::uint64_t lines) {
  for (std::uint64_t i = 0; i < lines; ++i) {
    // The other Xids are spread evenly, so that the last ones come late in the storm.
    const std::uint64_t between = lines / (kOthers.size() + 1) + 1;
    if (i % between == between - 1)
      writer.line(xid(kGpus[i / between % kGpus.size()], kOthers[i / between % kOthers.size()]));
    const std::uint64_t process = 41000 + i % 8;
    writer.line(xid(kGpus[i % kGpus.size()], "45, pid=" + std::to_string(process) +
                                                 ", name=pt_main_thread, Ch 000000" +
                                                 std::to_string(10 + i / 8 % 80)));
  }
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error("a flag needs a number");
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    const std::vector<std::string_view> arguments{argv + 1, argv + argc};
    if (arguments.size() != 2) throw std::runtime_error("flags: --megabytes N or --storm LINES");
    Writer writer;
    if (arguments[0] == "--megabytes")
      ordinary_days(writer, number_in(arguments[1]) * 1'000'000);
    else if (arguments[0] == "--storm")
      storm(writer, number_in(arguments[1]));
    else
      throw std::runtime_error("flags: --megabytes N or --storm LINES");
    writer.flush();
    std::cout.flush();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "generate_kernel_log: " << error.what() << '\n';
    return 1;
  }
}
