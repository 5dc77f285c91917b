#include "parsers/gpu/amd_smi_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/pci_address.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Words = std::vector<std::string_view>;

// The columns of monitor that are kept: the title in some version, and one name for all versions.
struct Column {
  std::string_view title;
  std::string_view name;
};
constexpr Column kColumns[] = {
    {"GPU_TEMP", "TEMPERATURE / HOTSPOT"}, {"GPU_T", "TEMPERATURE / HOTSPOT"},
    {"MEM_TEMP", "TEMPERATURE / MEM"},     {"MEM_T", "TEMPERATURE / MEM"},
    {"GFX_UTIL", "USAGE / GFX_ACTIVITY"},  {"GFX%", "USAGE / GFX_ACTIVITY"},
    {"DOUBLE_ECC", "ECC / DOUBLE_ECC"},    {"PCIE_REPLAY", "PCIE / REPLAY_COUNT"},
    {"TVIOL", "THROTTLE / TVIOL"},         {"PHOT_TVIOL", "THROTTLE / PHOT_TVIOL"},
    {"VR_TVIOL", "THROTTLE / VR_TVIOL"},   {"HBM_TVIOL", "THROTTLE / HBM_TVIOL"},
};

std::string_view name_of_column(std::string_view title) {
  const auto* column = std::ranges::find(kColumns, title, &Column::title);
  return column == std::end(kColumns) ? std::string_view() : column->name;
}

bool is_unit(std::string_view word) {
  constexpr std::string_view kUnits[] = {"W", "°C", "C", "%", "MHz", "MB", "GB", "Mb/s", "KB"};
  return std::ranges::find(kUnits, word) != std::end(kUnits);
}

// "199 W    103 °C      N/A" are three cells.
Words cells_with_units(std::string_view text) {
  Words cells;
  for (const std::string_view word : words_of(text))
    if (!is_unit(word) || cells.empty()) cells.push_back(word);
  return cells;
}

// The columns of monitor; none: the line is not its head.
Words columns_in(std::string_view text) {
  Words columns = words_of(text, 64);
  const std::size_t gpu = !columns.empty() && columns[0] == "TIMESTAMP" ? 1 : 0;
  if (columns.size() < gpu + 3 || columns[gpu] != "GPU" ||
      text.find_first_of("abcdefghijklmnopqrstuvwxyz") != text.npos)
    return {};
  const bool known = std::ranges::any_of(
      columns, [](std::string_view title) { return !name_of_column(title).empty(); });
  return known || columns[gpu + 1] == "POWER" ? columns : Words();
}

// There are two tables of links: by the ports of a GPU, and by the GPUs to which they lead.
constexpr std::string_view kByPort = "GPU LINK PORT STATUS";

bool is_titled_links(std::string_view text) {
  return text.starts_with("XGMI LINK STATUS") || text.starts_with(kByPort);
}

// "GPU0   0000:0a:00.0  SELF  U  U/D"
struct LinkRow {
  std::string_view index;
  std::string pci;
  Words states;
};

std::optional<LinkRow> link_row(std::string_view text) {
  Words words = words_of(text, 64);
  if (words.size() < 3 || !take_front(words[0], "GPU") || !is_count(words[0])) return std::nullopt;
  auto pci = normal_pci(words[1]);
  if (!pci) return std::nullopt;
  const bool states = std::all_of(words.begin() + 2, words.end(), [](std::string_view word) {
    return word == "SELF" || word == "N/A" || word.find_first_not_of("UDX/[]',") == word.npos;
  });
  if (!states) return std::nullopt;
  return LinkRow{words[0], *pci, {words.begin() + 2, words.end()}};
}

bool is_rule(std::string_view text) {
  return text.size() > 2 && text.find_first_not_of("+-=|") == text.npos;
}

class Tables : public PartDocument {
 public:
  Tables() : PartDocument("amd-smi-table") {}

 private:
  enum Stage { kNothing, kSummary, kProcesses, kMonitor, kLinks };

  Line read(std::string_view text) override {
    text = trimmed(text);
    if (is_titled_links(text)) {
      enter(kLinks);
      word(text);
      return Line::part;
    }
    if (const auto row = link_row(text)) return read_links(*row);
    if (const Words columns = columns_in(text); !columns.empty()) {
      enter(kMonitor);
      for (const std::string_view title : columns) word(title);
      return Line::part;
    }
    if (is_rule(text)) return stage_ == kSummary || stage_ == kProcesses ? Line::part : foreign();
    if (text.starts_with('|')) return read_framed(text);
    if (stage_ == kMonitor && read_monitor(text)) return Line::part;
    if (stage_ == kLinks && text.starts_with("bdf ")) return Line::part;
    return foreign();
  }

  Line foreign() const { return stage_ == kNothing ? Line::after : Line::foreign; }

  Line enter(Stage stage) {
    give_all();
    words_.clear();
    time_ = std::nullopt;
    stage_ = stage;
    return Line::part;
  }

  Line read_framed(std::string_view text) {
    const Words cells = cells_of(text);
    if (cells.empty()) return foreign();
    if (cells.size() == 1) {
      if (cells[0].starts_with("AMD-SMI ")) return enter(kSummary);
      if (cells[0].starts_with("Processes:")) stage_ = kProcesses;
      return stage_ == kSummary || stage_ == kProcesses ? Line::part : foreign();
    }
    if (cells[0].starts_with("BDF ") && stage_ != kSummary) return enter(kSummary);
    if (stage_ != kSummary || cells.size() != 2) return foreign();
    const Words left = words_of(cells[0]);
    const Words right = cells_with_units(cells[1]);
    if (left.empty()) return Line::foreign;
    // | 0000:05:00.0    AMD Instinct MI300X | 0 %      38 °C   0           140/750 W |
    if (const auto pci = normal_pci(left[0]); pci && right.size() >= 3) {
      OpenPart& gpu = open("gpu");
      gpu.name("pci", *pci);
      gpu.value("TEMPERATURE / HOTSPOT", right[1]);
      gpu.value("ECC / TOTAL_UNCORRECTABLE_COUNT", right[2]);
    } else if (is_count(left[0]) && last() != nullptr && !right.empty()) {
      // |   0       0       0        SPX/NPS1 | 0 %        N/A           285/196592 MB |
      last()->name("index", left[0]);
      last()->value("USAGE / GFX_ACTIVITY", right[0]);
    }
    return Line::part;
  }

  bool read_monitor(std::string_view text) {
    const Words cells = cells_with_units(text);
    if (cells.size() != words_.size() || cells.size() < 3 || cut()) return false;
    const std::size_t gpu = words_[0] == "TIMESTAMP" ? 1 : 0;
    if (!is_count(cells[gpu])) return false;
    OpenPart& part = open("gpu");
    part.name("index", cells[gpu]);
    for (std::size_t i = gpu + 1; i < cells.size(); ++i)
      if (const std::string_view name = name_of_column(words_[i]); cells[i] != "N/A")
        part.value(name, cells[i]);
    return true;
  }

  Line read_links(const LinkRow& row) {
    if (stage_ != kLinks) enter(kLinks);
    if (cut()) return Line::part;
    const bool by_port = !words_.empty() && words_[0].starts_with(kByPort);
    OpenPart& gpu = open("gpu");
    gpu.name("index", row.index);
    gpu.name("pci", row.pci);
    for (std::size_t i = 0; i < row.states.size(); ++i)
      for (const char state : row.states[i])
        if (row.states[i] != "N/A" && (state == 'U' || state == 'D' || state == 'X'))
          gpu.value(fmt::format("XGMI {} {}", by_port ? "port" : "link to GPU", i),
                    std::string_view(&state, 1));
    return Line::part;
  }
};

}  // namespace

bool begins_amd_smi_table(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return false;
  if (text.front() == '|')
    return text.starts_with("| AMD-SMI ") ||
           (text.starts_with("| BDF ") && text.find("| Mem-Uti ") != text.npos);
  return is_titled_links(text) || link_row(text) || !columns_in(text).empty();
}

std::unique_ptr<Document> make_amd_smi_table() { return std::make_unique<Tables>(); }

}  // namespace faultline
