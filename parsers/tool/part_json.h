// A tool's JSON about parts of a machine: as parsers/tool/part_document.h, for documents that
// JSON's own walker reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/json/json_document.h"
#include "parsers/tool/part_document.h"

namespace faultline {

class PartJson : public JsonReport {
 public:
  explicit PartJson(std::string_view tool) : tool_(tool) {}

  Sense sense() const final { return sense_; }
  std::size_t size() const final;
  void save(SavedBytesWriter& saved) const final;
  void restore(SavedBytesReader& saved) final;

 protected:
  OpenPart& open(std::string_view kind);
  OpenPart* find(std::string_view kind, std::string_view name, std::string_view value);
  OpenPart& find_or_open(std::string_view kind, std::string_view name, std::string_view value);
  OpenPart* last() { return open_.empty() ? nullptr : &open_.back(); }
  std::vector<OpenPart>& all() { return open_; }
  void give_all();

  // One of a few words that are remembered, by its number.
  void set(std::size_t place, std::string_view text);
  std::string_view get(std::size_t place) const;

  Sense sense_ = Sense::unsure;
  std::string_view tool_;
  std::optional<Timestamp> time_;

 private:
  std::vector<std::string> words_;
  std::vector<OpenPart> open_;
};

// "Fail\"" becomes readable again: JSON's escapes are undone, line breaks become blanks.
std::string unescaped(std::string_view text);

}  // namespace faultline
