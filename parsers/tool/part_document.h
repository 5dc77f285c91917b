// A tool's report about parts of a machine (model/facts/part.h), read line by line. What every such
// reader remembers is here, and how it survives a restart; a format says only how its lines read.
//
// To add a format: a class made from PartDocument with read(), and a row in all_documents.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/facts/part.h"
#include "model/time.h"
#include "parsers/document.h"

namespace faultline {

// A part of which more lines may speak, and the line that began it.
struct OpenPart {
  PartReport report;
  KeptLine line;

  // Neither takes more than a tool says; what exceeds that is dropped.
  void name(std::string_view name, std::string_view value);
  void value(std::string_view name, std::string_view value);
  std::string_view name_of(std::string_view name) const;  // empty: it has none
  bool has_value(std::string_view name) const;

  std::size_t size() const;
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);  // all but the tool
};

class PartDocument : public Document {
 public:
  explicit PartDocument(std::string_view tool) : tool_(tool) {}

  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) final;
  void finish(std::vector<DocumentReading>& readings) final;
  std::string_view dialect() const final { return tool_; }
  std::size_t size() const final;
  void save(SavedBytesWriter& saved) const final;
  void restore(SavedBytesReader& saved) final;

 protected:
  // One line, its end trimmed, never empty. Line::foreign may be answered a few times in a row;
  // then the document is over.
  virtual Line read(std::string_view text) = 0;

  // Nothing follows, and what is open is about to be given.
  virtual void end() {}

  // The line in hand begins a part. Where too many are open, those are given first.
  OpenPart& open(std::string_view kind);
  // The part rests on the line in hand, which tells more of it than the one that began it.
  void rest_on_line(OpenPart& part) const;
  // The open part with that name, or null.
  OpenPart* find(std::string_view kind, std::string_view name, std::string_view value);
  template <class Predicate>
  OpenPart* find_if(Predicate&& predicate) {
    for (OpenPart& part : open_)
      if (predicate(std::as_const(part))) return &part;
    return nullptr;
  }
  OpenPart* last() { return open_.empty() ? nullptr : &open_.back(); }

  // The line in hand may have gone on: 90 may be half of 9000.
  bool cut() const { return line_ != nullptr && line_->cut; }

  void give_all();  // in the order in which they were opened, those of which something was said
  void word(std::string_view text);
  // Adds to one of the words, as far as a word may grow.
  static void append(std::string& word, std::string_view text);

  // Sections within sections, told by how far they are indented: the first word is the part that
  // they are of, the others the keys above the line in hand.
  static int indent_of_line(std::string_view text);
  static int indent_of(const std::string& word);
  static std::string_view key_of(const std::string& word);
  void push_key(int indent, std::string_view key);
  // The way to the key, which is pushed: "ECC_BLOCKS / UMC / UNCORRECTABLE_COUNT".
  std::string path_to(int indent, std::string_view key);

  int stage_ = 0;                   // where in the format: the format's own meaning
  std::vector<std::string> words_;  // what stands above and means something further down
  std::optional<Timestamp> time_;   // when the tool looked, if it says so

 private:
  std::string_view tool_;
  std::vector<OpenPart> open_;
  bool begun_ = false;
  std::string host_;
  int rank_ = -1;
  int foreign_ = 0;
  const DocumentLine* line_ = nullptr;
  std::vector<DocumentReading>* readings_ = nullptr;
};

}  // namespace faultline
