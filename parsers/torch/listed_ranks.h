// A list of ranks that takes several lines, as its document remembers it.
#pragma once

#include <vector>

#include "model/facts/torch.h"
#include "parsers/document.h"

namespace faultline {

struct ListedRanks {
  DesyncEntry entry;
  KeptLine first;   // of its lines
  int foreign = 0;  // lines since the last of its own

  void add(int rank);
  void give(std::vector<DocumentReading>& readings);  // unless it is empty; it begins anew
  std::size_t size() const;
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
};

}  // namespace faultline
