// The compact form in which an Unwrapper's memory survives a restart.
#pragma once

#include "ingest/unwrap/peeled.h"
#include "model/saved_bytes.h"

namespace faultline {

class SavedWriter : public SavedBytesWriter {
 public:
  void peeled(const Peeled& value);  // without text, program, year_assumed and is_remark
};

class SavedReader : public SavedBytesReader {
 public:
  using SavedBytesReader::SavedBytesReader;

  Peeled peeled();  // its host is a view into the bytes
};

}  // namespace faultline
