#include "parsers/gpu/dcgmi_diag.h"

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

// "|-----  Deployment  --------+----|"
bool is_section(std::string_view text) {
  return (text.starts_with("|--") || text.starts_with("+--")) && !is_rule(text);
}

// A table that was copied from its middle begins with such a row.
bool is_known_section(std::string_view text) {
  constexpr std::string_view kNames[] = {"  Deployment  ", "  Metadata  ", "  Integration  ",
                                         "  Hardware  ", "  Stress  "};
  return is_section(text) && std::ranges::any_of(kNames, [&](std::string_view name) {
           return text.find(name) != std::string_view::npos;
         });
}

// "Fail - GPU: 3, 5"
bool is_result(std::string_view text) {
  constexpr std::string_view kResults[] = {"Pass - ", "Fail - ", "Skip - ", "Warn - "};
  return std::ranges::any_of(kResults, [&](std::string_view r) { return text.starts_with(r); });
}

// DCGM breaks a long text after a fixed number of letters, also within a word. A full cell has one
// blank before the text and two behind it; any more blanks are part of the text.
struct WrappedCell {
  bool begins_at_once = false;  // no blank of the text is at its beginning
  bool is_full = false;         // no blank of the text is at its end
};

WrappedCell wrapped(std::string_view row) {
  const std::size_t bar = row.find('|', 1);
  const std::string_view cell = row.substr(bar + 1, row.size() - bar - 2);
  return {.begins_at_once = cell.starts_with(' ') && !cell.starts_with("  "),
          .is_full = cell.ends_with("  ") && !cell.ends_with("   ")};
}

bool is_note(std::string_view name) {
  return name == "Error" || name == "Warning" || name == "Warnings" || name == "Info";
}

// "3" in "GPU 3 had …" and "GPU3: Fail"
std::string_view gpu_in_front(std::string_view text) {
  if (!take_front(text, "GPU")) return {};
  take_front(text, " ");
  const std::string_view index = text.substr(0, text.find_first_not_of("0123456789"));
  return is_count(index) && index.size() < text.size() ? index : std::string_view();
}

class Diagnostic : public PartDocument {
 public:
  Diagnostic() : PartDocument("dcgmi-diag") {}

 private:
  // Indices into words_ while the rows of a test are read.
  enum Word { kTest, kResult, kNote, kNoteText, kWords };
  enum Stage { kHead, kRows, kRowsWithinWord };  // the row before is full

  Line read(std::string_view text) override {
    text = trimmed(text);
    if (text.starts_with("Successfully ran diagnostic")) {
      begin();
      return Line::part;
    }
    if (is_rule(text) || is_section(text)) {
      tell_test();
      const bool closes = stage_ != kHead && is_rule(text) && text.front() == '+';
      return closes ? Line::last : Line::part;
    }
    const auto cells = cells_of(text);
    if (cells.size() != 2) return Line::foreign;
    if (cells[0] == "Diagnostic" && cells[1] == "Result") {
      if (stage_ != kHead) begin();
      return Line::part;
    }
    const WrappedCell cell = wrapped(text);
    read_row(cells[0], cells[1], stage_ == kRowsWithinWord && cell.begins_at_once);
    stage_ = cell.is_full ? kRowsWithinWord : kRows;
    return Line::part;
  }

  void end() override { tell_test(); }

  void begin() {
    tell_test();
    give_all();
    stage_ = kHead;
  }

  void read_row(std::string_view name, std::string_view text, bool within_word) {
    if (name.empty()) {
      const std::string_view gpu = gpu_in_front(text);
      const std::size_t colon = text.find(": ");
      if (!gpu.empty() && colon != std::string_view::npos && words_.size() == 2) {
        of_gpu(gpu).value(words_[kTest], text.substr(colon + 2));
      } else if (words_.size() == 2 && is_result(text)) {
        tell_gpus_of_result();
        words_[kResult] = text;
      } else if (!words_.empty()) {
        append(words_.back(), within_word ? "" : " ");
        append(words_.back(), text);
      }
      return;
    }
    if (is_note(name)) {
      if (words_.empty()) return;
      tell_note();
      word(name);
      word(text);
      return;
    }
    tell_test();
    word(name);
    word(text);
  }

  void tell_test() {
    tell_note();
    if (words_.size() < 2) return;
    tell_gpus_of_result();
    words_.clear();
  }

  // "Fail - GPU: 3, 5" is reported for the host and for both GPUs.
  void tell_gpus_of_result() {
    host().value(words_[kTest], words_[kResult]);
    std::string_view rest = words_[kResult];
    std::string_view result;
    if (take_until(rest, " - GPU: ", result) || take_until(rest, " - GPUs: ", result))
      for (const std::string_view gpu : pieces_of(rest, ","))
        if (is_count(gpu)) of_gpu(gpu).value(words_[kTest], result);
  }

  void tell_note() {
    if (words_.size() < kWords) return;
    const std::string_view gpu = gpu_in_front(words_[kNoteText]);
    OpenPart& part = gpu.empty() ? host() : of_gpu(gpu);
    // A result that lists no GPUs belongs to the GPU that the note names.
    const std::string& result = words_[kResult];
    if (!gpu.empty() && result.find(" - ") == std::string::npos && !part.has_value(words_[kTest]))
      part.value(words_[kTest], result);
    part.value(words_[kTest] + " / " + words_[kNote], words_[kNoteText]);
    words_.resize(2);
  }

  OpenPart& host() {
    OpenPart* part = find("host", "index", "");
    return part != nullptr ? *part : open("host");
  }

  OpenPart& of_gpu(std::string_view index) {
    if (OpenPart* part = find("gpu", "index", index)) return *part;
    OpenPart& part = open("gpu");
    part.name("index", index);
    return part;
  }
};

}  // namespace

bool begins_dcgmi_diag(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  if (text.front() == 'S') return text.starts_with("Successfully ran diagnostic for group");
  if (is_known_section(text)) return true;
  if (!text.starts_with("| Diagnostic ")) return false;
  const auto cells = cells_of(text);
  return cells.size() == 2 && cells[1] == "Result";
}

std::unique_ptr<Document> make_dcgmi_diag() { return std::make_unique<Diagnostic>(); }

}  // namespace faultline
