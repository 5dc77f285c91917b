#include "parsers/gpu/dcgmi_nvlink.h"

#include <algorithm>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

bool is_rule(std::string_view text) {
  return text.size() > 2 && text.find_first_not_of("+-=|") == std::string_view::npos;
}

class Links : public PartDocument {
 public:
  Links() : PartDocument("dcgmi-nvlink") {}

 private:
  enum Stage { kErrors, kStatus, kSwitches };

  Line read(std::string_view text) override {
    text = trimmed(text);
    const auto cells = cells_of(text);
    if (cells.size() == 1 && cells[0] == "NVLINK Error Counts") return begin(kErrors);
    if (cells.size() == 1 && cells[0] == "NvLink Link Status") return begin(kStatus);
    if (is_rule(text)) return Line::part;
    if (stage_ == kErrors) return read_errors(cells) ? Line::part : Line::foreign;
    return read_status(text);
  }

  Line begin(Stage stage) {
    give_all();
    stage_ = stage;
    words_.clear();
    return Line::part;
  }

  bool read_errors(const std::vector<std::string_view>& cells) {
    if (cells.empty() || cells.size() > 2) return false;
    std::string_view name = cells[0];
    if (take_front(name, "GPU ")) {
      words_.clear();
      word(trimmed(name));
      return is_count(words_[0]);
    }
    if (cells.size() < 2 || words_.empty()) return false;
    if (take_front(name, "Link ")) {
      open_link(trimmed(name));
      return true;
    }
    if (!take_front(name, "-> ") || last() == nullptr) return false;
    last()->value(trimmed(name), cells[1]);
    return true;
  }

  Line read_status(std::string_view text) {
    if (text.starts_with("Key: ")) return Line::last;
    if (text == "GPUs:") return Line::part;
    if (text == "NvSwitches:") {
      stage_ = kSwitches;
      return Line::part;
    }
    if (take_front(text, "gpuId ") && text.ends_with(':')) {
      words_.clear();
      word(text.substr(0, text.size() - 1));
      return Line::part;
    }
    const auto letters = words_of(text);
    const bool all = std::ranges::all_of(letters, [](std::string_view word) {
      return word.size() == 1 && std::string_view("UDX_").find(word[0]) != std::string_view::npos;
    });
    if (stage_ == kSwitches)
      return all || text.starts_with("No NvSwitches") || text.starts_with("physicalId ")
                 ? Line::part
                 : Line::foreign;
    if (!all || words_.empty()) return Line::foreign;
    const bool all_down = std::ranges::all_of(letters, [](auto word) { return word == "D"; });
    if (letters.size() > 1 && all_down) {  // report this once, not for each of 18 links
      OpenPart& gpu = open("gpu");
      gpu.name("index", words_[0]);
      gpu.value("error", "all links are inactive");
      words_.clear();
      return Line::part;
    }
    for (std::size_t link = 0; link < letters.size(); ++link)
      open_link(std::to_string(link)).value("Status", letters[link]);
    words_.clear();
    return Line::part;
  }

  OpenPart& open_link(std::string_view link) {
    OpenPart& part = open("nvlink");
    part.name("index", words_[0]);
    part.name("link", link);
    return part;
  }
};

}  // namespace

bool begins_dcgmi_nvlink(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (!text.starts_with('|')) return false;
  return text.starts_with("| NVLINK Error Counts ") || text.starts_with("|  NvLink Link Status ");
}

std::unique_ptr<Document> make_dcgmi_nvlink() { return std::make_unique<Links>(); }

}  // namespace faultline
