#include "parsers/gpu/dcgmi_dmon.h"

#include <algorithm>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Words = std::vector<std::string_view>;

// The columns after "#Entity" or "# gpu"; none if the line is not a head.
Words columns_in(std::string_view text, std::string_view entity) {
  text = trimmed(text);
  if (!take_front(text, "#")) return {};
  Words words = words_of(text);
  if (words.size() < 2 || words[0] != entity) return {};
  words.erase(words.begin());
  return words;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-eExXabcdefABCDEF") == text.npos &&
         text.find_first_of("0123456789") != text.npos;
}

bool is_cell(std::string_view text) { return is_number(text) || text == "N/A" || text == "-"; }

class Monitor : public PartDocument {
 public:
  Monitor(std::string_view tool, std::string_view entity) : PartDocument(tool), entity_(entity) {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (const Words head = columns_in(text, entity_); !head.empty()) {
      words_.clear();
      for (const std::string_view column : head) word(column);
      return Line::part;
    }
    Words cells = words_of(text);
    if (is_units(cells)) return Line::part;
    if (entity_ == "Entity") {  // "GPU 0", but also entities that are not GPUs
      if (cells.front() != "GPU") return Line::foreign;
      cells.erase(cells.begin());
    }
    if (cells.size() != words_.size() + 1 || !is_count(cells[0]) ||
        !std::all_of(cells.begin() + 1, cells.end(), is_cell))
      return Line::foreign;
    OpenPart& gpu = open("gpu");
    gpu.name("index", cells[0]);
    for (std::size_t i = 0; i + (cut() ? 1 : 0) < words_.size(); ++i)
      gpu.value(words_[i], cells[i + 1]);
    give_all();
    return Line::part;
  }

  // "ID   C   W", "# Idx   W   C" below the head.
  static bool is_units(Words cells) {
    if (cells.front() == "#") cells.erase(cells.begin());
    return !cells.empty() && (cells[0] == "ID" || cells[0] == "Id" || cells[0] == "Idx");
  }

  std::string_view entity_;
};

}  // namespace

bool begins_dcgmi_dmon(std::string_view text) {
  text.remove_prefix(indentation(text));
  return text.starts_with('#') && text.substr(0, 10).find("Entity") != text.npos &&
         !columns_in(text, "Entity").empty();
}

std::unique_ptr<Document> make_dcgmi_dmon() {
  return std::make_unique<Monitor>("dcgmi-dmon", "Entity");
}

bool begins_nvidia_smi_dmon(std::string_view text) {
  text.remove_prefix(indentation(text));
  return text.starts_with("# gpu ") && !columns_in(text, "gpu").empty();
}

std::unique_ptr<Document> make_nvidia_smi_dmon() {
  return std::make_unique<Monitor>("nvidia-smi-dmon", "gpu");
}

}  // namespace faultline
