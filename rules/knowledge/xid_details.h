// What the text after an Xid's code adds to the code: registers, units, reasons. The meanings are
// data (xid_details.csv); this code knows the layout of the texts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace faultline {

struct XidMeaning;
struct Catalog;

// What a row of xid_details.csv looks at.
enum class XidField {
  text,     // the text holds the row's values
  to,       // the recovery action that an Xid 154 names last
  printed,  // the word of an NVLink 5 line: Fatal, Nonfatal
  subcode,  // of NVLink 5's interrupt word
  status,   // NVLink 5's second word
  bits,     // of the first register of an Xid 74
};
BOOST_DESCRIBE_ENUM(XidField, text, to, printed, subcode, status, bits)

// A row: what such a text means for one of these codes. For an empty field, xid.csv counts.
struct XidDetail {
  std::vector<int> codes;
  bool any_program = false;        // instead of `codes`: all that xid.csv blames on the program
  std::vector<std::string> units;  // of NVLink 5; empty: any
  XidField field = XidField::text;
  std::string text;                                             // for text, to, printed
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values;  // for numbers: from, to
  Cause cause = Cause::none;
  std::optional<Severity> severity;
  std::string impact;
  bool echo = false;  // follows from what another part did
  std::string meaning;
  std::string action;
};

// The text, taken apart as far as its form is known.
struct XidWords {
  std::string_view unit;     // NETIR_LINK_EVT
  std::string_view printed;  // Fatal, Nonfatal
  std::optional<int> link;
  std::vector<std::uint64_t> words;
  bool old_layout = false;    // before driver 575: the place of the subcode is not known
  std::string_view recovery;  // of an Xid 154: the action that is due now
};
XidWords words_of(int code, std::string_view detail);

// What one line says, with the catalog's help.
struct XidReading {
  Cause cause = Cause::none;
  Severity severity = Severity::error;
  std::string impact;
  bool echo = false;
  std::string says;    // empty: the code says it all
  std::string action;  // for what it says; the code's own is in xid.csv
};
XidReading read_xid(const Catalog& catalog, const XidMeaning& meaning, std::string_view detail);

}  // namespace faultline
