#include "parsers/system/df.h"

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Words = std::vector<std::string_view>;

// Filesystem      Size  Used Avail Use% Mounted on
Words head_of(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("Filesystem ") || !text.ends_with(" Mounted on")) return {};
  Words columns = words_of(text.substr(0, text.size() - sizeof("Mounted on") + 1), 16);
  return columns.size() >= 4 ? columns : Words();
}

class Filesystems : public PartDocument {
 public:
  Filesystems() : PartDocument("df") {}

 private:
  Line read(std::string_view text) override {
    if (const Words head = head_of(text); !head.empty()) {
      words_.clear();
      for (const std::string_view column : head) word(column);
      return Line::part;
    }
    const Words cells = words_of(text, 16);
    if (cells.size() != words_.size() + 1 || !cells.back().starts_with('/')) return Line::after;
    // Use% comes right before the mount point; no other line has both.
    if (!cells[cells.size() - 2].ends_with('%') && cells[cells.size() - 2] != "-")
      return Line::after;
    OpenPart& host = open("host");
    host.name("mount", cells.back());
    host.name("filesystem", cells.front());
    for (std::size_t i = 1; i < words_.size(); ++i) host.value(words_[i], cells[i]);
    give_all();
    return Line::part;
  }
};

}  // namespace

bool begins_df(std::string_view text) {
  text.remove_prefix(indentation(text));
  return text.starts_with("Filesystem ") && !head_of(text).empty();
}

std::unique_ptr<Document> make_df() { return std::make_unique<Filesystems>(); }

}  // namespace faultline
