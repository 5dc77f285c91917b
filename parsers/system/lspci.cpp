#include "parsers/system/lspci.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "model/pci_address.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

struct Device {
  std::string_view pci;
  std::string_view what;  // Infiniband controller
  std::string_view name;
};

bool is_hex(char c) { return is_digit_character(c) || (c >= 'a' && c <= 'f'); }

// "3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)", with the domain
// before it if it is not 0000. A device with "(rev ff)" reads as all ones, so nothing is true about
// it. A small letter after the address means a driver's line: "0000:3b:00.0 eth0: Link is down".
std::optional<Device> device_of(std::string_view text) {
  if (text.size() < 12 || !is_hex(text.front()) || text.find("(rev ff)") != text.npos)
    return std::nullopt;
  std::string_view rest = text;
  const std::string_view pci = take_off_word(rest);
  if (pci.size() < 7 || pci[pci.size() - 2] != '.' || pci[pci.size() - 5] != ':' ||
      !normal_pci(pci))
    return std::nullopt;
  const std::size_t colon = rest.find(": ");
  if (colon == rest.npos) return std::nullopt;
  const std::string_view what = trimmed(rest.substr(0, colon));
  if (what.empty() || (what.front() >= 'a' && what.front() <= 'z')) return std::nullopt;
  return Device{pci, what, rest.substr(colon + 2)};
}

// The kind of part; empty for devices that do not matter: a bridge, a disk, the host's display.
std::string_view kind_of(const Device& device) {
  constexpr auto kGpus = std::to_array<std::string_view>(
      {"3D controller", "Processing accelerators", "Display controller"});
  if (std::ranges::find(kGpus, device.what) != kGpus.end()) return "gpu";
  if (device.what == "VGA compatible controller" &&
      (device.name.starts_with("NVIDIA") || device.name.starts_with("Advanced Micro Devices")))
    return "gpu";
  if (device.what == "Infiniband controller" || device.what == "Ethernet controller") return "port";
  return {};
}

// "16" of "Port #0, Speed 16GT/s (ok), Width x16 (downgraded)"
std::string_view width_in(std::string_view text) {
  const std::size_t at = text.find("Width x");
  if (at == text.npos) return {};
  text.remove_prefix(at + 7);
  const auto end = std::ranges::find_if_not(text, is_digit_character);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

class PciDevices : public PartDocument {
 public:
  PciDevices() : PartDocument("lspci") {}

 private:
  Line read(std::string_view text) override {
    if (const auto device = device_of(text)) {
      give_all();
      const std::string_view kind = kind_of(*device);
      if (kind.empty()) return Line::part;
      OpenPart& part = open(kind);
      part.name("pci", *normal_pci(device->pci));
      return Line::part;
    }
    const bool indented = text.front() == '\t' || text.front() == ' ';
    text = trimmed(text);
    if (text.starts_with("LnkCap:"))
      tell("link width/max", text);
    else if (text.starts_with("LnkSta:"))
      tell("link width/current", text);
    else if (!indented)
      return Line::after;
    return Line::part;
  }

  void tell(std::string_view name, std::string_view text) {
    const std::string_view width = width_in(text);
    if (width.empty() || width == "0" || cut()) return;
    OpenPart* device = last();
    if (device == nullptr) return;
    rest_on_line(*device);
    device->value(name, width);
  }
};

}  // namespace

bool begins_lspci(std::string_view text) { return device_of(text).has_value(); }

std::unique_ptr<Document> make_lspci() { return std::make_unique<PciDevices>(); }

}  // namespace faultline
