#include "parsers/tool/tool_block.h"

#include "parsers/tool/tool_words.h"

namespace faultline {

void PartWriter::open(std::string_view tool, std::string_view kind) {
  close();
  PartDraft& draft = block.draft;
  draft.open = true;
  draft.report = {.tool = std::string(tool),
                  .kind = std::string(kind),
                  .names = block.names,
                  .values = block.values};
  draft.line.keep(line_);
  draft.host = context.host;
  if (!line_.time.known()) draft.time = context.date;
}

void PartWriter::name(std::string_view name, std::string_view value) {
  if (is_open()) set_name(block.draft.report.names, name, value);
}

void PartWriter::value(std::string_view name, std::string_view value) {
  if (is_open() && !value.empty()) set_value(block.draft.report.values, name, value);
}

bool PartWriter::has_value(std::string_view name) const {
  return is_open() && !value_of(block.draft.report.values, name).empty();
}

void PartWriter::close() {
  PartDraft draft = std::move(block.draft);
  block.draft = {};
  // Values of the whole block say nothing about this part.
  if (!draft.open || draft.report.values.size() <= block.values.size()) return;
  readings_.push_back({{.fact = std::move(draft.report),
                        .host = std::move(draft.host),
                        .pid = 0,
                        .device = -1,
                        .time = draft.time},
                       std::move(draft.line)});
}

void PartWriter::begin_block() {
  close();
  block = {};
}

void PartWriter::give(PartReport report) {
  readings_.push_back({{.fact = std::move(report),
                        .host = context.host,
                        .pid = 0,
                        .device = -1,
                        .time = line_.time.known() ? std::nullopt : context.date},
                       std::nullopt});
}

}  // namespace faultline
