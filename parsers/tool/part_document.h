// A tool's report about parts of a machine (model/facts/part.h), read line by line. This class
// keeps the state of every such reader and saves it over a restart; a format only reads lines.
//
// To add a format: derive a class from PartDocument, define read(), and add a row to
// all_documents.cpp.
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

// A part about which more lines may follow, and the line that is its evidence.
struct OpenPart {
  PartReport report;
  KeptLine line;

  // Both drop what exceeds the size of any real report.
  void name(std::string_view name, std::string_view value);
  void value(std::string_view name, std::string_view value);
  std::string_view name_of(std::string_view name) const;  // empty: there is none
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
  // Reads one line, its end trimmed, never empty. After a few Line::foreign in a row the document
  // is over.
  virtual Line read(std::string_view text) = 0;

  // No more lines follow, and the open parts are about to be given.
  virtual void end() {}

  // The current line begins a part. If too many parts are open, these are given first.
  OpenPart& open(std::string_view kind);
  // Makes the current line the evidence of the part, because it says more than the first line.
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

  // Whether the current line may be incomplete: 90 may be a cut 9000.
  bool cut() const { return line_ != nullptr && line_->cut; }

  void give_all();  // the open parts that have values, in the order in which they were opened
  void word(std::string_view text);
  // Appends text to a word, up to the maximum length of a word.
  static void append(std::string& word, std::string_view text);

  // For sections within sections, which only the indentation shows: the first word is the part, the
  // others are the keys above the current line.
  static int indent_of_line(std::string_view text);
  static int indent_of(const std::string& word);
  static std::string_view key_of(const std::string& word);
  void push_key(int indent, std::string_view key);
  // Pushes the key and returns the path to it: "ECC_BLOCKS / UMC / UNCORRECTABLE_COUNT".
  std::string path_to(int indent, std::string_view key);

  int stage_ = 0;                   // the place in the format; each format gives it a meaning
  std::vector<std::string> words_;  // texts of earlier lines that later lines need
  std::optional<Timestamp> time_;   // when the tool ran, if it says so

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
