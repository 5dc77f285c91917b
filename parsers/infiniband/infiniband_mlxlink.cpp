// mlxlink: sections of keys and values about one port, cable and transceiver.
#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

// A line of dashes that is as long as the title above it. Other lines of dashes are not mlxlink's.
bool is_underline(std::string_view text, std::string_view title) {
  return text.size() == title.size() && text.find_first_not_of('-') == text.npos;
}

// "Supported Info" says what the port could do, under the keys of what it does. Only two of its
// keys are useful.
bool is_of_no_use(std::string_view section, std::string_view key) {
  return section == "Supported Info" && key != "Enabled Link Speed" &&
         key != "Supported Cable Speed";
}

bool is_section(std::string_view text) {
  return text.ends_with(" Info") || text.starts_with("Histogram ") || text == "Tool Information" ||
         text.ends_with(" Information") || text.ends_with(" Info (PCIe)");
}

}  // namespace

bool begins_mlxlink(std::string_view text) {
  switch (text.front()) {
    case 'O':
      return text == "Operational Info";
    case 'P':
      return text == "Physical Counters and BER Info";
    case '-':
      return text.starts_with("-E- ") && !begins_ibdiagnet(text);
    default:
      return false;
  }
}

bool feed_mlxlink(std::string_view text, PartWriter& parts) {
  if (is_underline(text, parts.block.section) && parts.is_open()) return true;
  const bool again = text == "Operational Info" ||
                     (text == "Physical Counters and BER Info" && parts.has_value("Symbol Errors"));
  if (again || !parts.is_open()) {
    if (!begins_mlxlink(text)) return false;
    parts.begin_block();
    parts.open("mlxlink", "port");
    parts.name("device", parts.context.device);
    parts.name("pci", parts.context.pci);
    parts.name("port", parts.context.port);
    parts.name("netdev", parts.context.netdev);
  }
  if (take_off(text, "-E- ")) {
    parts.value("error", text);
    return true;
  }
  if (is_section(text)) {
    parts.block.section = text;
    return true;
  }
  const auto row = padded_key_and_value(text);
  if (!row) return false;
  if (!is_of_no_use(parts.block.section, row->key) && !parts.has_value(row->key))
    parts.value(row->key, row->value);
  return true;
}

}  // namespace faultline
