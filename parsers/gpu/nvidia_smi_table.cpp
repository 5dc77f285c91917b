#include "parsers/gpu/nvidia_smi_table.h"

#include <algorithm>
#include <string>

#include "model/pci_address.h"
#include "parsers/gpu/nvidia_smi_error.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Words = std::vector<std::string_view>;

std::string joined(Words::const_iterator begin, Words::const_iterator end) {
  std::string text;
  for (auto word = begin; word != end; ++word) {
    if (!text.empty()) text += ' ';
    text += *word;
  }
  return text;
}

bool is_rule(std::string_view text) {
  return text.size() > 2 && (text.front() == '+' || text.front() == '|') &&
         text.find_first_not_of("+-=|") == std::string_view::npos;
}

// "|   4  NVIDIA A40          On   | 00000000:83:00.0 Off |  …": the first line of a table that was
// pasted without its head.
bool is_first_row(std::string_view text) {
  const std::size_t index = text.find_first_not_of("| ");
  if (index == text.npos || text[index] < '0' || text[index] > '9') return false;
  const std::size_t cell = text.find('|', index);
  if (cell == text.npos) return false;
  const Words bus = words_of(text.substr(cell + 1), 2);
  return !bus.empty() && bus[0].size() > 10 && normal_pci(bus[0]).has_value();
}

// Is called only for text that begins like a day of the week.
bool is_date(std::string_view text) {
  return text.size() > 10 && text[3] == ' ' && parse_ctime(text).has_value();
}

class Table : public PartDocument {
 public:
  Table() : PartDocument("nvidia-smi") {}

 private:
  // The line that is expected next. A GPU has two lines, and a third with MIG.
  enum Stage { kDate, kHead, kSecond, kThird, kProcesses };

  Line read(std::string_view text) override {
    text = trimmed(text);
    if (is_date(text)) {
      give_all();
      time_ = parse_ctime(text);
      stage_ = kDate;
      return Line::part;
    }
    if (is_rule(text)) return read_rule(text);
    if (const auto error = nvidia_smi_error(text)) {
      error->tell(open(error->kind()));
      return Line::part;
    }
    const Words cells = cells_of(text);
    if (cells.empty()) return stage_ == kDate ? Line::after : Line::foreign;
    if (cells.size() == 1) return read_wide(cells[0]);
    if (cells.size() == 3 && read_row(cells)) return Line::part;
    return Line::foreign;
  }

  Line read_rule(std::string_view text) {
    const bool closes = text.front() == '+';
    if (stage_ == kProcesses && closes && has_processes()) return Line::last;
    if (stage_ != kProcesses && stage_ != kDate) stage_ = kHead;
    return Line::part;
  }

  // A row without columns: the version, a process, or an error about a GPU.
  Line read_wide(std::string_view cell) {
    if (cell.starts_with("NVIDIA-SMI ")) {
      if (stage_ != kDate) {
        give_all();
        time_ = std::nullopt;
      }
      stage_ = kHead;
      read_versions(cell);
      return Line::part;
    }
    if (cell.starts_with("Processes:")) {
      stage_ = kProcesses;
      words_.clear();
      return Line::part;
    }
    const Words words = words_of(cell, 32);
    if (stage_ == kProcesses) {
      if (cell == "No running processes found" || read_process(words)) word("process");
      return Line::part;
    }
    const bool lost = cell.find("GPU is lost") != std::string_view::npos ||
                      cell.find("Unknown Error") != std::string_view::npos;
    if (!lost || words.empty() || !is_count(words[0])) return Line::foreign;
    OpenPart& gpu = open("gpu");
    gpu.name("index", words[0]);
    gpu.value("error", cell);
    return Line::part;
  }

  bool has_processes() const { return !words_.empty(); }

  // NVIDIA-SMI 550.90.07   Driver Version: 550.90.07   CUDA Version: 12.4
  void read_versions(std::string_view cell) {
    const Words words = words_of(cell, 16);
    OpenPart& host = open("host");
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
      if (words[i + 1] != "Version:") continue;
      host.value(std::string(words[i]) + " Version", words[i + 2]);
    }
  }

  bool read_row(const Words& cells) {
    if (stage_ == kSecond) {
      read_second(cells);
      stage_ = kThird;
      return true;
    }
    if (stage_ == kThird && cells[0].empty() && cells[1].empty()) {
      if (last() != nullptr && !cells[2].empty()) last()->value("MIG M.", cells[2]);
      stage_ = kHead;
      return true;
    }
    if (read_first(cells)) {
      stage_ = kSecond;
      return true;
    }
    // The names of the columns.
    return cells[0].starts_with("GPU ") || cells[0].starts_with("Fan ") || cells[2] == "MIG M.";
  }

  // |   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
  bool read_first(const Words& cells) {
    const Words name = words_of(cells[0]);
    const Words bus = words_of(cells[1]);
    if (name.size() < 2 || !is_count(name[0]) || bus.empty()) return false;
    auto pci = normal_pci(bus[0]);
    if (!pci) return false;
    OpenPart& gpu = open("gpu");
    gpu.name("index", name[0]);
    gpu.name("pci", *pci);
    const bool has_mode = name.back() == "On" || name.back() == "Off" || name.back() == "N/A";
    gpu.value("Name", joined(name.begin() + 1, name.end() - (has_mode ? 1 : 0)));
    if (has_mode) gpu.value("Persistence-M", name.back());
    if (bus.size() > 1) gpu.value("Disp.A", bus[1]);
    gpu.value("Volatile Uncorr. ECC", cells[2]);
    return true;
  }

  // | N/A   61C    P0            652W /  700W |   71204MiB /  81559MiB |    100%      Default |
  void read_second(const Words& cells) {
    if (last() == nullptr) return;
    OpenPart& gpu = *last();
    if (cells[0].find("Unknown Error") != std::string_view::npos ||
        cells[0].find("GPU is lost") != std::string_view::npos) {
      gpu.value("error", cells[0]);
    } else {
      constexpr std::string_view kNames[] = {"Fan", "Temp", "Perf"};
      const Words words = words_of(cells[0]);
      const std::size_t single = std::min(words.size(), std::size(kNames));
      for (std::size_t i = 0; i < single; ++i) gpu.value(kNames[i], words[i]);
      if (words.size() > single)
        gpu.value("Pwr:Usage/Cap",
                  joined(words.begin() + static_cast<std::ptrdiff_t>(single), words.end()));
    }
    const Words memory = words_of(cells[1]);
    if (!memory.empty()) gpu.value("Memory-Usage", joined(memory.begin(), memory.end()));
    const Words use = words_of(cells[2]);
    if (!use.empty()) gpu.value("GPU-Util", use[0]);
    if (use.size() > 1) gpu.value("Compute M.", joined(use.begin() + 1, use.end()));
  }

  // |    0   N/A  N/A     21734      C   /usr/bin/python3                            71190MiB |
  // |    0     21734      C   python3                                                71190MiB |
  bool read_process(const Words& words) {
    if (words.size() < 3 || !is_count(words[0])) return false;
    for (std::size_t i = 1; i + 1 < words.size() && i < 4; ++i) {
      const std::string_view type = words[i + 1];
      if (type != "C" && type != "G" && type != "C+G" && type != "M+C") continue;
      if (!is_count(words[i])) return false;
      if (OpenPart* gpu = find("gpu", "index", words[0])) gpu->value("Processes / pid", words[i]);
      return true;
    }
    return false;
  }
};

}  // namespace

bool begins_nvidia_smi_table(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  if (text.front() == '|')
    return text.starts_with("| NVIDIA-SMI ") ||
           (text.starts_with("| GPU  Name ") && text.find("Persistence-M") != text.npos) ||
           is_first_row(text);
  return text.front() >= 'F' && text.front() <= 'W' && is_date(without_end_blanks(text));
}

std::unique_ptr<Document> make_nvidia_smi_table() { return std::make_unique<Table>(); }

}  // namespace faultline
