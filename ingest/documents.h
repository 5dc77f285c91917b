// The document that a source is in the middle of, if it is in one, and the one whose lines stand
// among all others: parsers/document.h tells what that is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parsers/document.h"

namespace faultline {

// Of the document that may begin with this line; null: none may.
const DocumentFormat* format_beginning_with(std::string_view text);

class Documents {
 public:
  // What a document may remember. One that would need more is given up.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

  bool is_open() const { return open_ != nullptr; }

  // Whether a line would be read as part of a document, by what is known before it is read.
  bool wants(std::string_view text) const;

  // True: the line is a document's, and whatever it completes is in `readings`.
  bool read(const DocumentLine& line, std::vector<DocumentReading>& readings);

  // Nothing follows.
  void close(std::vector<DocumentReading>& readings);

  // Of the line that was read last; empty: it is not known yet.
  std::string_view dialect() const { return dialect_; }

  // Documents that were given up since the last call.
  std::uint64_t take_given_up() { return std::exchange(given_up_, 0); }

  // What it remembers between lines, so that reading can go on after a restart. Empty outside of
  // documents.
  std::string save() const;
  void restore(std::string_view saved);

 private:
  bool read_beside(const DocumentLine& line, std::vector<DocumentReading>& readings);
  bool begin(const DocumentFormat& format, const DocumentLine& line,
             std::vector<DocumentReading>& readings);
  bool feed(const DocumentLine& line, std::vector<DocumentReading>& readings);
  void finish(std::vector<DocumentReading>& readings);
  bool restore_one(SavedBytesReader& saved);

  const DocumentFormat* format_ = nullptr;
  std::unique_ptr<Document> open_;
  std::unique_ptr<Document> beside_;
  std::string_view dialect_;
  std::uint64_t given_up_ = 0;
};

}  // namespace faultline
