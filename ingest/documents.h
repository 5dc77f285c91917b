// The documents that are open in a source, and the one whose lines stand among all other lines
// (parsers/document.h explains it). If labelled lines of several hosts or ranks are mixed, each of
// these has its own document.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parsers/document.h"

namespace faultline {

// The format of the document that may begin with this line; null: none may.
const DocumentFormat* format_beginning_with(std::string_view text);

class Documents {
 public:
  // What all documents together may remember. One that needs more than its share is given up.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  // How many speakers may have a document open at once.
  static constexpr std::size_t kMostSpeakers = 256;

  bool is_open() const { return !open_.empty(); }

  // Also counts the document whose lines stand among all other lines.
  bool is_underway() const { return is_open() || beside_ != nullptr; }

  // Whether a line may be part of a document, judged before it is read.
  bool wants(std::string_view text) const;

  // True: the line is part of a document, and whatever it completes is in `readings`.
  bool read(const DocumentLine& line, std::vector<DocumentReading>& readings);

  // Nothing follows.
  void close(std::vector<DocumentReading>& readings);

  // The dialect of the line that was read last; empty: not known yet.
  std::string_view dialect() const { return dialect_; }

  // Documents that were given up since the last call.
  std::uint64_t take_given_up() { return std::exchange(given_up_, 0); }

  // What it remembers between lines, so that reading can go on after a restart. Empty outside of
  // documents.
  std::string save() const;
  void restore(std::string_view saved);

 private:
  // Who printed a line, as far as its labels say.
  struct Speaker {
    std::string host;
    int rank = -1;
    auto operator<=>(const Speaker&) const = default;
  };
  struct Open {
    const DocumentFormat* format = nullptr;
    std::unique_ptr<Document> document;
    std::uint64_t last_line = 0;
    std::int64_t lines = 0;
  };
  using Opens = std::map<Speaker, Open>;

  bool read_beside(const DocumentLine& line, std::vector<DocumentReading>& readings);
  Opens::iterator open_for(const DocumentLine& line);
  bool begin(const DocumentFormat& format, const DocumentLine& line,
             std::vector<DocumentReading>& readings);
  bool feed(Opens::iterator at, const DocumentLine& line, std::vector<DocumentReading>& readings);
  void finish(Opens::iterator at, std::vector<DocumentReading>& readings);
  bool restore_one(SavedBytesReader& saved, bool with_speaker);

  Opens open_;
  std::unique_ptr<Document> beside_;
  std::string_view dialect_;
  std::uint64_t given_up_ = 0;
};

}  // namespace faultline
