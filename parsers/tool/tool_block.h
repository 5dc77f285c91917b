// What a tool prints of the parts that it looked at, block by block. A format is two functions; all
// that it may remember from line to line is in BlockMemory, which is saved for it.
//
// To add a format: a row in tool_formats.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts/part.h"
#include "parsers/document.h"

namespace faultline {

// What the text around a block tells of it.
struct ToolContext {
  std::string host;    // from a shell's prompt
  std::string device;  // from a heading, or the command
  std::string port;
  std::string netdev;
  std::string pci;
  std::string peer;               // the host that a command names
  std::optional<Timestamp> date;  // printed before

  bool operator==(const ToolContext&) const = default;
};

// A part whose lines are still being read.
struct PartDraft {
  bool open = false;
  PartReport report;
  KeptLine line;                  // where it began
  std::string host;               // of the prompt above it
  std::optional<Timestamp> time;  // printed above it
};

struct BlockMemory {
  PartDraft draft;
  // Of the parts that follow, told in the lines above them.
  std::vector<NamedValue> names;
  std::vector<NamedValue> values;
  std::string section;  // where in the block it stands; means what the format likes
};

// Writes facts while a line is read.
class PartWriter {
 public:
  PartWriter(BlockMemory& memory, const ToolContext& around, const DocumentLine& line,
             std::vector<DocumentReading>& readings)
      : block(memory), context(around), line_(line), readings_(readings) {}

  BlockMemory& block;
  const ToolContext& context;

  // Begins a part, with the names and values of the block; ends the one before it.
  void open(std::string_view tool, std::string_view kind);
  bool is_open() const { return block.draft.open; }
  // Of the part in hand. What is empty is no name.
  void name(std::string_view name, std::string_view value);
  void value(std::string_view name, std::string_view value);
  bool has_value(std::string_view name) const;
  // A part without values says nothing.
  void close();
  // Forgets the part in hand, and what the lines above told.
  void begin_block();

  // A fact complete with this line.
  void give(PartReport report);

 private:
  const DocumentLine& line_;
  std::vector<DocumentReading>& readings_;
};

struct ToolFormat {
  std::string_view name;    // what the receipt counts its lines as
  std::string_view firsts;  // characters that its beginnings begin with
  bool (*begins)(std::string_view text);
  // False: the line is none of the format's. Texts come without blanks around them, and never
  // empty.
  bool (*feed)(std::string_view text, PartWriter& parts);
  // Its beginnings look like what other formats hold in their midst.
  bool weak = false;
};

std::span<const ToolFormat> all_tool_formats();

// The format that begins with this line, or null. Asked about every line of a source: quick.
const ToolFormat* tool_format_beginning_with(std::string_view text, bool weak);

}  // namespace faultline
