// The state of a document that reads a list of ranks over several lines.
#pragma once

#include <vector>

#include "model/facts/torch.h"
#include "parsers/document.h"

namespace faultline {

struct ListedRanks {
  DesyncEntry entry;
  KeptLine first;   // the first line
  int foreign = 0;  // foreign lines since the last line of the list

  void add(int rank);
  void give(std::vector<DocumentReading>& readings);  // gives the list unless empty; clears it
  std::size_t size() const;
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
};

}  // namespace faultline
