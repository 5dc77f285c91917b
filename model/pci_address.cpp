#include "model/pci_address.h"

#include <charconv>

namespace faultline {
namespace {

constexpr std::uint64_t kMaxDomain = 0xffffffff;
constexpr std::uint64_t kMaxBus = 0xff;
constexpr std::uint64_t kMaxDevice = 0x1f;
// Real functions are 0..7; a whole digit is accepted because NCCL has used the rest of it for parts
// of a GPU.
constexpr std::uint64_t kMaxFunction = 0xf;

std::optional<std::uint64_t> hex(std::string_view digits, std::size_t max_digits) {
  if (digits.empty() || digits.size() > max_digits) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

void add_digit(std::string& text, std::uint64_t value) { text += "0123456789abcdef"[value & 0xf]; }

std::optional<std::string> spell(std::uint64_t domain, std::uint64_t bus, std::uint64_t device,
                                 std::uint64_t function) {
  if (domain > kMaxDomain || bus > kMaxBus || device > kMaxDevice || function > kMaxFunction)
    return std::nullopt;
  std::string address;  // by hand: every Xid of a storm is spelled
  for (int shift = domain > 0xffff ? 28 : 12; shift >= 0; shift -= 4)
    if (shift < 16 || !address.empty() || (domain >> shift) != 0)
      add_digit(address, domain >> shift);
  address += ':';
  add_digit(address, bus >> 4);
  add_digit(address, bus);
  address += ':';
  add_digit(address, device >> 4);
  add_digit(address, device);
  address += '.';
  add_digit(address, function);
  return address;
}

// The part before the first `separator`, which is removed with it; nothing if there is none.
std::optional<std::string_view> cut_before(std::string_view& text, char separator) {
  const std::size_t place = text.find(separator);
  if (place == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, place);
  text.remove_prefix(place + 1);
  return part;
}

}  // namespace

std::optional<std::string> pci_from_nccl_bus_id(std::string_view text) {
  const auto id = hex(text, 16);
  if (!id) return std::nullopt;
  return spell(*id >> 20, (*id >> 12) & 0xff, (*id >> 4) & 0xff, *id & 0xf);
}

std::optional<std::string> normal_pci(std::string_view text) {
  const auto first = cut_before(text, ':');
  if (!first) return std::nullopt;
  const auto second = cut_before(text, ':');
  const std::string_view domain_digits = second ? *first : std::string_view("0");
  const std::string_view bus_digits = second ? *second : *first;

  const auto before_dot = cut_before(text, '.');
  const std::string_view device_digits = before_dot ? *before_dot : text;
  const std::string_view function_digits = before_dot ? text : std::string_view("0");

  const auto domain = hex(domain_digits, 8);
  const auto bus = hex(bus_digits, 2);
  const auto device = hex(device_digits, 2);
  const auto function = hex(function_digits, 1);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return spell(*domain, *bus, *device, *function);
}

}  // namespace faultline
