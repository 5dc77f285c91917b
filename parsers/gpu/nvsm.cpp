#include "parsers/gpu/nvsm.h"

#include <optional>
#include <string>

#include "model/pci_address.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// A row is as long as its dots make it; a check with a long name has only some of them.
constexpr std::string_view kDots = ".....";
constexpr std::string_view kFailed = " Unhealthy";

struct Check {
  std::string_view name;      // "NetworkAdapter link speed"
  std::string_view brackets;  // "[0000:35:00.0][2.5GT/s]"; empty: it names no part
};

std::optional<Check> failed_check(std::string_view text) {
  text = without_end_blanks(text);
  if (text.empty() || text.front() == ' ' || !text.ends_with(kFailed)) return {};
  text.remove_suffix(kFailed.size());
  if (!text.ends_with(kDots)) return {};
  text.remove_suffix(text.size() - 1 - text.find_last_not_of('.'));
  text = trimmed(text);
  Check check{.name = text, .brackets = {}};
  if (const std::size_t bracket = text.find('['); bracket != text.npos)
    check = {.name = trimmed(text.substr(0, bracket)), .brackets = text.substr(bracket)};
  if (check.name.empty()) return {};
  return check;
}

// The first address of a device between brackets.
std::optional<std::string> device_in(std::string_view brackets) {
  for (std::size_t at = brackets.find('['); at != brackets.npos; at = brackets.find('[', at + 1)) {
    const std::size_t end = brackets.find(']', at);
    if (end == brackets.npos) return {};
    if (auto pci = normal_pci(brackets.substr(at + 1, end - at - 1))) return pci;
  }
  return {};
}

class HealthOfNvsm : public PartDocument {
 public:
  HealthOfNvsm() : PartDocument("nvsm") {}

 private:
  Line read(std::string_view text) override {
    if (const auto check = failed_check(text)) {
      open_check(*check);
      return Line::part;
    }
    // Indented lines below the row say what was found.
    if (last() == nullptr || indentation(text) == 0) return Line::after;
    say(trimmed(text));
    return Line::part;
  }

  void end() override { say("Unhealthy"); }

  // The first thing that is said of the last check.
  void say(std::string_view what) {
    if (last() != nullptr && !words_.empty() && !last()->has_value(words_.front()))
      last()->value(words_.front(), what);
  }

  void open_check(const Check& check) {
    end();
    const auto device = device_in(check.brackets);
    const bool is_gpu = check.name.starts_with("GPU ") || check.name.starts_with("Checking NVLink");
    const bool is_nic = check.name.starts_with("NetworkAdapter ");
    OpenPart& part = open(device && is_gpu ? "gpu" : device && is_nic ? "port" : "host");
    if (device && (is_gpu || is_nic)) part.name("pci", *device);
    words_.clear();
    word(check.name);
  }
};

}  // namespace

bool begins_nvsm(std::string_view text) { return failed_check(text).has_value(); }

std::unique_ptr<Document> make_nvsm() { return std::make_unique<HealthOfNvsm>(); }

}  // namespace faultline
