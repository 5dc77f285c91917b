// Bodies of JSON objects: those of any shipper, of Elasticsearch's bulk requests and of Splunk's
// HTTP event collector.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "doors/record.h"
#include "model/result.h"

namespace faultline {

// One on each line, one behind the other, or in a list; what is no object is a line of text.
void read_objects(std::string_view body, RecordVisitor& visitor);

// What became of one action of a bulk request.
struct BulkItem {
  std::string action;  // create, index, update, delete
  std::string index;
  std::string id;
  std::string refused;  // why; empty: it was taken
};

// Lines in pairs, an action and its document. `index`: of actions that name none.
Result<std::vector<BulkItem>> read_bulk(std::string_view body, std::string_view index,
                                        RecordVisitor& visitor);

// How an event is wrong, as Splunk numbers it.
struct EventError {
  int code = 0;
  std::string text;
  std::size_t event = 0;  // the first is 0
};

// Objects one behind the other. Returns the first error if not one event is good.
struct EventsRead {
  std::size_t events = 0;
  std::optional<EventError> error;
};
EventsRead read_events(std::string_view body, RecordVisitor& visitor);

}  // namespace faultline
