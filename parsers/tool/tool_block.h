// The output of a tool about parts of a machine, block by block. A format is two functions. It may
// keep state from line to line only in BlockMemory, which is saved for it.
//
// To add a format: add a row to tool_formats.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts/part.h"
#include "parsers/document.h"

namespace faultline {

// What the text around a block says about it.
struct ToolContext {
  std::string host;    // from a shell's prompt
  std::string device;  // from a heading, or the command
  std::string port;
  std::string netdev;
  std::string pci;
  std::string peer;               // the host that a command names
  std::optional<Timestamp> date;  // printed before the block

  bool operator==(const ToolContext&) const = default;
};

// A part whose lines are still being read.
struct PartDraft {
  bool open = false;
  PartReport report;
  KeptLine line;                  // its first line
  std::string host;               // from the prompt above it
  std::optional<Timestamp> time;  // from a date above it
};

struct BlockMemory {
  PartDraft draft;
  // Names and values that lines above the parts give to all of them.
  std::vector<NamedValue> names;
  std::vector<NamedValue> values;
  std::string section;  // the place in the block; each format gives it a meaning
};

// Collects facts while a line is read.
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
  // For the current part. Empty names and values are ignored.
  void name(std::string_view name, std::string_view value);
  void value(std::string_view name, std::string_view value);
  bool has_value(std::string_view name) const;
  // Gives the current part. A part without values of its own is dropped.
  void close();
  // Gives the current part, and forgets what the lines above said.
  void begin_block();

  // Gives a fact that this line completes.
  void give(PartReport report);

 private:
  const DocumentLine& line_;
  std::vector<DocumentReading>& readings_;
};

struct ToolFormat {
  std::string_view name;    // the dialect under which the receipt counts its lines
  std::string_view firsts;  // the characters with which a first line may begin
  bool (*begins)(std::string_view text);
  // False: the line is not of this format. text has no blanks around it and is never empty.
  bool (*feed)(std::string_view text, PartWriter& parts);
  // Its first lines look like lines within other formats.
  bool weak = false;
};

std::span<const ToolFormat> all_tool_formats();

// The format that begins with this line, or null. Called for every line of a source, so it is
// quick.
const ToolFormat* tool_format_beginning_with(std::string_view text, bool weak);

}  // namespace faultline
