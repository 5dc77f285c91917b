// A tool's JSON about parts of a machine: what parsers/tool/part_document.h is for text.
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

  // A few texts that are kept, each under a number.
  void set(std::size_t place, std::string_view text);
  std::string_view get(std::size_t place) const;

  Sense sense_ = Sense::unsure;
  std::string_view tool_;
  std::optional<Timestamp> time_;

 private:
  std::vector<std::string> words_;
  std::vector<OpenPart> open_;
};

// Decodes JSON's escapes; line breaks become blanks.
std::string unescaped(std::string_view text);

}  // namespace faultline
