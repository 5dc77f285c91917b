// ibdiagnet: its complaints about links and about counters of ports, and the number of complaints
// in each stage.
#include <algorithm>
#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kTool = "ibdiagnet";
constexpr std::string_view kCounters = "counters";
constexpr std::string_view kSummary = "summary";

// Text that went through Markdown: \"2.5\", \<\--\>, enable\_speed1.
std::string without_escapes(std::string_view text) {
  constexpr std::string_view kEscaped = "\"<>-_*[]()#&|.~`!+";
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '\\' && i + 1 < text.size() && kEscaped.find(text[i + 1]) != text.npos;
    if (!escape) plain += text[i];
  }
  return plain;
}

bool begins_message(std::string_view text) {
  return text.size() > 4 && text[0] == '-' &&
         (text[1] == 'E' || text[1] == 'W' || text[1] == 'I') && text.substr(2, 2) == "- ";
}

// Whether the complaint is about a link, a port or a counter, not about how the tool was called.
bool names_a_port(std::string_view text) {
  static const Pattern kPort(R"(^-.- (?:Link: \S|lid=(?:0x)?[\da-fA-F]+ |.+?/P\d+ ))");
  return kPort.find(text);
}

// S0002c90200404140/N0002c90200404148(leaf1)/P20, leaf1/U1/P20, gpu-7 mlx5_0/P1
bool name_port(std::vector<NamedValue>& names, std::string_view port, std::string_view prefix) {
  static const Pattern kEnd(R"(^(.+)/P(\d+)(?:/\S*)?$)");
  static const Pattern kNode(R"(^(?:S[0-9a-fA-F]{16}/)?N([0-9a-fA-F]{16})(?:\((.+)\))?$)");
  std::string_view node;
  std::string_view number;
  if (!kEnd.find(trimmed(port), &node, &number)) return false;
  const std::string before(prefix);
  std::string_view digits;
  std::string_view description;
  if (kNode.find(node, &digits, &description)) {
    set_name(names, before + "guid", canonical_guid("0x" + std::string(digits)));
    node = description;
  }
  add_node_names(names, node, prefix);
  set_name(names, before + "port", number);
  return true;
}

// Unexpected actual link speed 2.5 (enable_speed1="2.5 or 5", … therefore final speed should be 5)
void read_link_complaint(std::string_view text, PartReport& report) {
  static const Pattern kActual(
      R"((?i)unexpected (?:actual )?link (speed|width),? *(?:is |= *)?([\w.]+))");
  static const Pattern kExpected(R"((?i)(?:final|expected) (?:speed|width) should be ([\w.]+))");
  std::string_view what;
  std::string_view actual;
  std::string_view expected;
  if (!kActual.find(text, &what, &actual)) {
    set_value(report.values, "complaint", text.substr(0, 200));
    return;
  }
  const bool told = kExpected.find(text, &expected);
  const std::string field = "unexpected " + std::string(what == "width" ? "width" : "speed");
  set_value(report.values, field,
            std::string(actual) + (told ? " instead of " + std::string(expected) : ""));
}

// Link: A<-->B - what is wrong
bool read_link(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "Link: ")) return false;
  const std::size_t middle = text.find("<-->");
  const std::size_t end = text.find(" - ");
  if (middle == text.npos || end == text.npos || end < middle) return false;
  PartReport report{.tool = std::string(kTool), .kind = "link"};
  if (!name_port(report.names, text.substr(0, middle), "") ||
      !name_port(report.names, text.substr(middle + 4, end - middle - 4), "peer_"))
    return false;
  read_link_complaint(trimmed(text.substr(end + 3)), report);
  parts.give(std::move(report));
  return true;
}

bool says_too_much(std::string_view remark) {
  return remark.find("exceed") != remark.npos || remark.find("overflow") != remark.npos;
}

// Adds a count and what ibdiagnet says about it.
void add_count(std::string_view counter, std::string_view count, std::string_view verdict,
               PartWriter& parts) {
  if (is_number(count)) parts.value(counter, count);
  if (!verdict.empty())
    parts.value(
        std::string(counter) + "/verdict",
        std::string(counter) + " " + std::string(verdict) + " (" + std::string(count) + ")");
}

// leaf1/U1/P20 - "symbol_error_counter" increased during the run (difference value=5,…)
bool read_increase(std::string_view text, PartWriter& parts) {
  static const Pattern kIncrease(
      R"re(^(.+?/P\d+) - "(\w+)" (increased during the run) \(difference value=(\d+))re");
  std::string_view port;
  std::string_view counter;
  std::string_view verdict;
  std::string_view count;
  if (!kIncrease.find(text, &port, &counter, &verdict, &count)) return false;
  parts.close();
  parts.open(kTool, "port");
  if (name_port(parts.block.draft.report.names, port, ""))
    parts.value(
        std::string(counter) + "/verdict",
        std::string(counter) + " " + std::string(verdict) + " (by " + std::string(count) + ")");
  parts.close();
  return true;
}

// lid=0x0007 guid=0x0002c90200404140 dev=47396 Port=7, lid=0x0010 dev=4115 gpu-7/U1/P1; counters
// follow on the same line or on the next ones.
bool read_port(std::string_view text, PartWriter& parts) {
  static const Pattern kPort(
      R"(^lid=(0x[0-9a-fA-F]+|\d+)(?: guid=(0x[0-9a-fA-F]+))? dev=\w+(?: Port=(\d+)| (\S.*?/P\d+))?(?: (.*))?$)");
  std::string_view lid;
  std::string_view guid;
  std::string_view number;
  std::string_view name;
  std::string_view more;
  if (!kPort.find(text, &lid, &guid, &number, &name, &more)) return false;
  parts.close();
  parts.open(kTool, "port");
  parts.name("lid", assigned_lid(lid));
  parts.name("guid", canonical_guid(guid));
  parts.name("port", number);
  if (!name.empty()) name_port(parts.block.draft.report.names, name, "");
  parts.block.section = kCounters;
  static const Pattern kCount(R"((\w+) ?[:=] ?(\w+) \(((?:threshold exceeded|overflow)[^)]*)\))");
  std::string_view counter;
  std::string_view count;
  std::string_view verdict;
  if (kCount.find(more, &counter, &count, &verdict)) add_count(counter, count, verdict, parts);
  return true;
}

// symbol_error_counter            : 0xffff (overflow)
bool read_count(std::string_view text, PartWriter& parts) {
  static const Pattern kCount(R"(^([A-Za-z]\w*) *: *(0x[0-9a-fA-F]+|\d+)(?: *\(([^()]+)\))?$)");
  if (parts.block.section != kCounters || !parts.is_open()) return false;
  std::string_view counter;
  std::string_view count;
  std::string_view verdict;
  if (!kCount.find(text, &counter, &count, &verdict))
    return text.starts_with("Performance Monitor counter");
  add_count(counter, count, says_too_much(verdict) ? verdict : std::string_view(), parts);
  return true;
}

// -I- Stage  Warnings  Errors  Comment, and a row for each stage
bool read_summary(std::string_view text, PartWriter& parts) {
  static const Pattern kRow(R"(^(\S.*?) +(\d+) +(\d+)(?: +\S.*)?$)");
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() >= 3 && words[0] == "Stage" && words[1] == "Warnings" && words[2] == "Errors") {
    parts.close();
    parts.block.section = kSummary;
    return true;
  }
  std::string_view stage;
  std::string_view warnings;
  std::string_view errors;
  if (parts.block.section != kSummary || !kRow.find(text, &stage, &warnings, &errors)) return false;
  PartReport report{.tool = std::string(kTool), .kind = "fabric"};
  set_value(report.values, std::string(stage) + "/warnings", warnings);
  set_value(report.values, std::string(stage) + "/errors", errors);
  parts.give(std::move(report));
  return true;
}

}  // namespace

bool begins_ibdiagnet(std::string_view text) {
  // mlxlink writes -E- before its own errors, too.
  const std::string plain = without_escapes(text);
  return begins_message(plain) && (plain[1] != 'E' || names_a_port(plain));
}

bool feed_ibdiagnet(std::string_view text, PartWriter& parts) {
  const std::string plain = without_escapes(text);
  std::string_view rest = plain;
  if (!begins_message(rest)) return read_count(rest, parts) || read_summary(rest, parts);
  const bool only_told = rest[1] == 'I';
  rest = trimmed(rest.substr(4));
  if (read_summary(rest, parts)) return true;
  parts.close();
  parts.block.section.clear();
  if (!only_told && !read_link(rest, parts) && !read_increase(rest, parts)) read_port(rest, parts);
  return true;
}

}  // namespace faultline
