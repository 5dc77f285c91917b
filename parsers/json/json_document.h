// JSON over one line or many. Its first keys show which dialect it is.
//
// To add a dialect: derive a class from JsonReport and add a row to json_document.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "parsers/document.h"
#include "parsers/json/json_walker.h"

namespace faultline {

// Makes facts of one JSON document of one dialect.
class JsonReport : public JsonSink {
 public:
  enum class Sense { unsure, mine, not_mine };

  // Whether the document is of this dialect, as far as it has been read.
  virtual Sense sense() const = 0;

  virtual std::size_t size() const = 0;
  virtual void save(SavedBytesWriter& saved) const = 0;
  virtual void restore(SavedBytesReader& saved) = 0;

  // The line that is being read, and where to put its facts.
  DocumentLine line;
  std::vector<DocumentReading>* readings = nullptr;
};

bool begins_json_document(std::string_view text);
std::unique_ptr<Document> make_json_document();

}  // namespace faultline
