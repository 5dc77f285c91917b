// JSON printed over many lines, or one: what it is, its first keys tell.
//
// To add a dialect: a class made from JsonReport, and a row in json_document.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "parsers/document.h"
#include "parsers/json/json_walker.h"

namespace faultline {

// What is made of one JSON document.
class JsonReport : public JsonSink {
 public:
  enum class Sense { unsure, mine, not_mine };

  // Whether the document is of this dialect, by what was seen so far.
  virtual Sense sense() const = 0;

  virtual std::size_t size() const = 0;
  virtual void save(SavedBytesWriter& saved) const = 0;
  virtual void restore(SavedBytesReader& saved) = 0;

  // The line that is being read, and where its facts go.
  DocumentLine line;
  std::vector<DocumentReading>* readings = nullptr;
};

bool begins_json_document(std::string_view text);
std::unique_ptr<Document> make_json_document();

}  // namespace faultline
