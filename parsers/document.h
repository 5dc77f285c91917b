// A document means something only as a whole, over many lines: a tool's report, JSON printed for
// people. Its reader remembers, from line to line, what the next ones need.
//
// To add a format: a class made from Document, and a row in all_documents.cpp. ingest/documents
// opens it where it begins, feeds it the lines (their wrapping taken off), and keeps what it
// remembers over a restart.
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
  std::string_view whole;    // with its wrapping, as it stands in the source
  std::uint64_t number = 0;  // in the source, from 1
  std::uint64_t offset = 0;  // of its first byte
  // Who said it, and when, as far as its wrapping tells.
  std::string_view host = {};
  EventTime time = {};
  int rank = -1;
  bool cut = false;        // the source ended without ending it: it may have gone on
  bool is_remark = false;  // its logger says that it is information or a warning, no error
};

// A line that a document keeps, because a fact that is complete only later rests on it.
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
  std::optional<KeptLine> line;  // the one that it rests on; none: the line that was fed last
};

class Document {
 public:
  enum class Line {
    part,     // belongs to the document
    last,     // so it does, and ends it
    foreign,  // somebody else's, in the midst of it
    after,    // somebody else's; the document has ended before it
  };

  virtual ~Document() = default;

  virtual Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) = 0;

  // Nothing follows.
  virtual void finish(std::vector<DocumentReading>&) {}

  // What the receipt counts its lines as; empty: not known yet.
  virtual std::string_view dialect() const = 0;

  // Bytes it remembers, about. A document that grows too large is given up.
  virtual std::size_t size() const = 0;

  virtual void save(SavedBytesWriter& saved) const = 0;
  virtual void restore(SavedBytesReader& saved) = 0;
};

struct DocumentFormat {
  std::string_view name;  // under which what it remembers is saved
  // Whether a document may begin with this line. Asked about every line that is no call: quick.
  bool (*begins)(std::string_view text);
  std::unique_ptr<Document> (*create)();
  // With which a beginning may begin, after blanks; empty: with any. Spares most lines the
  // question.
  std::string_view first_characters = {};
  // Its lines stand among those of any other, so that it ends none and none ends it; it is fed
  // every line, and asked first. There is one.
  bool beside = false;
};

// In the order they are tried.
std::span<const DocumentFormat> all_documents();

}  // namespace faultline
