#include "parsers/gpu/nvidia_smi_topo.h"

#include <algorithm>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Words = std::vector<std::string_view>;

constexpr std::string_view kAffinities[] = {"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"};

bool is_gpu(std::string_view name) { return take_front(name, "GPU") && is_count(name); }

bool is_peer(std::string_view name) {
  return is_gpu(name) || (take_front(name, "NIC") && is_count(name)) ||
         name.find('_') != std::string_view::npos;  // mlx5_0, before 520
}

// NV18, PIX, PXB, PHB, NODE, SYS, X
bool is_link(std::string_view cell) {
  return cell.size() <= 6 && std::ranges::all_of(cell, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

// The parts that a head names; `affinities` is how many columns follow them. None: not a head.
Words head_of(std::string_view text, std::size_t& affinities) {
  Words words = words_of(text, 512);
  const auto end = std::ranges::find_if_not(words, is_peer);
  affinities = static_cast<std::size_t>(std::ranges::count(
      kAffinities, true, [&](auto column) { return text.find(column) != std::string_view::npos; }));
  if (words.empty() || !is_gpu(words[0]) || (end != words.end() && affinities == 0)) return {};
  const auto peers = static_cast<std::size_t>(end - words.begin());
  if (peers < 2 && affinities == 0) return {};
  words.resize(peers);
  return words;
}

class Matrix : public PartDocument {
 public:
  Matrix() : PartDocument("nvidia-smi-topo") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    std::size_t affinities = 0;
    if (const Words head = head_of(text, affinities); !head.empty()) {
      give_all();
      words_.clear();
      for (const std::string_view peer : head) word(peer);
      stage_ = static_cast<int>(affinities);
      return Line::part;
    }
    if (read_row(words_of(text)) || read_legend(text)) return Line::part;
    if (!read_name(text)) return Line::foreign;
    return all_named() ? Line::last : Line::part;
  }

  bool read_row(const Words& cells) {
    if (cut() || cells.size() < words_.size() + 1 ||
        std::ranges::find(words_, cells[0]) == words_.end() ||
        !std::all_of(cells.begin() + 1,
                     cells.begin() + 1 + static_cast<std::ptrdiff_t>(words_.size()), is_link))
      return false;
    const std::string_view name = cells[0];
    OpenPart& part = open(is_gpu(name) ? "gpu" : "nic");
    if (is_gpu(name))
      part.name("index", name.substr(3));
    else
      part.name(name.starts_with("NIC") ? "nic" : "device", name);
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (words_[i] != name) part.value(words_[i], cells[i + 1]);
    // If an affinity is left empty, the row does not show which one.
    const auto affinities = static_cast<std::size_t>(std::clamp(stage_, 0, 3));
    if (cells.size() == 1 + words_.size() + affinities)
      for (std::size_t i = 0; i < affinities; ++i)
        part.value(kAffinities[i], cells[1 + words_.size() + i]);
    return true;
  }

  static bool read_legend(std::string_view text) {
    if (text == "Legend:" || text == "NIC Legend:") return true;
    std::string_view mark;
    return take_until(text, " = ", mark) && (is_link(trimmed(mark)) || trimmed(mark) == "NV#");
  }

  // NIC0: mlx5_0
  bool read_name(std::string_view text) {
    std::string_view nic;
    if (!text.starts_with("NIC") || !take_until(text, ": ", nic)) return false;
    OpenPart* part = find("nic", "nic", nic);
    if (part == nullptr) return false;
    part->name("device", trimmed(text));
    return true;
  }

  bool all_named() {
    return std::ranges::all_of(words_, [this](const std::string& peer) {
      const OpenPart* nic = find("nic", "nic", peer);
      return nic == nullptr || !nic->name_of("device").empty();
    });
  }
};

}  // namespace

bool begins_nvidia_smi_topo(std::string_view text) {
  text.remove_prefix(indentation(text));
  std::size_t affinities = 0;
  return text.starts_with("GPU0") && !head_of(without_end_blanks(text), affinities).empty();
}

std::unique_ptr<Document> make_nvidia_smi_topo() { return std::make_unique<Matrix>(); }

}  // namespace faultline
