// A document is text that means something only over many lines: a tool's report, JSON printed for
// people. Its reader remembers what the next lines need.
//
// To add a format: derive a class from Document and add a row to all_documents.cpp.
// ingest/documents opens a document at its first line, feeds it lines without their wrapping, and
// saves its state over a restart.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/saved_bytes.h"
#include "model/time.h"
#include "parsers/parser.h"

namespace faultline {

struct DocumentLine {
  std::string_view text;
  std::string_view whole;    // as it stands in the source, wrapping included
  std::uint64_t number = 0;  // in the source, from 1
  std::uint64_t offset = 0;  // of its first byte
  // Who printed the line, and when, if the wrapping says so.
  std::string_view host = {};
  EventTime time = {};
  int rank = -1;
  std::int64_t pid = 0;    // 0: the wrapping names none
  bool cut = false;        // the source ended within the line: more of it may be missing
  bool is_remark = false;  // the logger's level is information or warning, not error
};

// A line that a document keeps as the evidence of a fact that is complete only later.
struct KeptLine {
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
  std::string text;
  std::string host;
  int rank = -1;
  EventTime time;

  void keep(const DocumentLine& line);
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
};

struct DocumentReading {
  Reading reading;
  std::optional<KeptLine> line;  // the evidence; none: the line that was fed last
};

class Document {
 public:
  enum class Line {
    part,     // belongs to the document
    last,     // belongs to the document and ends it
    foreign,  // belongs to something else; the document goes on
    after,    // belongs to something else; the document ended before it
  };

  virtual ~Document() = default;

  virtual Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) = 0;

  // No more lines follow.
  virtual void finish(std::vector<DocumentReading>&) {}

  // The dialect under which the receipt counts the lines; empty: not known yet.
  virtual std::string_view dialect() const = 0;

  // How many bytes it holds, roughly. A document that grows too large is given up.
  virtual std::size_t size() const = 0;

  virtual void save(SavedBytesWriter& saved) const = 0;
  virtual void restore(SavedBytesReader& saved) = 0;
};

struct DocumentFormat {
  std::string_view name;  // under which its state is saved
  // Whether a document may begin with this line. Called for every line that is not a call, so it
  // must be quick.
  bool (*begins)(std::string_view text);
  std::unique_ptr<Document> (*create)();
  // The characters that a first line may begin with, after blanks; empty: any. Most lines are
  // ruled out by them without a call of begins.
  std::string_view first_characters = {};
  // Its lines may stand between lines of any other document: neither ends the other. It is fed
  // every line, and before the others. Only one format is of this kind.
  bool beside = false;
};

// In the order in which they are tried.
std::span<const DocumentFormat> all_documents();

}  // namespace faultline
