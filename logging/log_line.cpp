#include "logging/log_line.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/utf8.h"

namespace faultline {
namespace {

constexpr std::size_t kMostOfAValue = 2048;
constexpr std::string_view kCut = "\u2026";
constexpr std::string_view kNoCharacter = "\\ufffd";

std::string_view name_of(LogLevel level) {
  if (level == LogLevel::error) return "error";
  return level == LogLevel::warning ? "warning" : "info";
}

// As syslog counts.
int priority_of(LogLevel level) {
  if (level == LogLevel::error) return 3;
  return level == LogLevel::warning ? 4 : 6;
}

// Of one to three bytes, which are those of a character.
unsigned code_of(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  if (character.size() == 2) return (byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU);
  return (byte(0) & 0x0fU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
}

// Ends a line for some reader, drives a terminal, or shows nothing.
bool is_unfit(unsigned code) {
  const bool controls = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool marks = (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e);
  return controls || marks || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

// The one place that lets foreign text into a line.
void write_fit(std::string& out, std::string_view text, bool in_quotes) {
  const std::size_t begin = out.size();
  while (!text.empty()) {
    if (out.size() - begin > kMostOfAValue) {
      out += kCut;
      break;
    }
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0)
      out += kNoCharacter;
    else if (in_quotes && (character == "\"" || character == "\\"))
      out.append("\\").append(character);
    else if (character == "\n")
      out += "\\n";
    else if (character == "\t")
      out += "\\t";
    else if (length < 4 && is_unfit(code_of(character)))
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_of(character));
    else
      out += character;
    text.remove_prefix(character.size());
  }
}

// A string of JSON, which is what logfmt quotes with, too.
void write_quoted(std::string& out, std::string_view text) {
  out += '"';
  write_fit(out, text, true);
  out += '"';
}

// Words of letters need no quotes in logfmt.
void write_value(std::string& out, std::string_view text) {
  const bool is_plain =
      !text.empty() && text.size() <= kMostOfAValue && std::ranges::all_of(text, [](char c) {
        return c > ' ' && c <= '~' && c != '"' && c != '=' && c != '\\';
      });
  if (is_plain)
    out += text;
  else
    write_quoted(out, text);
}

std::vector<LogField> heading_of(const LogEntry& entry, const LogStamp& stamp) {
  std::vector<LogField> fields;
  if (!stamp.marks_priority) fields.emplace_back("time", stamp.time);
  fields.emplace_back("level", name_of(entry.level));
  fields.emplace_back("event", entry.event);
  if (!entry.message.empty()) fields.emplace_back("msg", entry.message);
  return fields;
}

void write_logfmt(std::string& out, const std::vector<LogField>& fields) {
  std::string_view between;
  for (const LogField& field : fields) {
    out.append(std::exchange(between, " ")).append(field.name).append("=");
    write_value(out, field.value);
  }
}

void write_json(std::string& out, const std::vector<LogField>& fields) {
  std::string_view between = "{";
  for (const LogField& field : fields) {
    out.append(std::exchange(between, ",")).append("\"").append(field.name).append("\":");
    if (field.is_number)
      out += field.value;
    else
      write_quoted(out, field.value);
  }
  out += '}';
}

void write_plain(std::string& out, const LogEntry& entry) {
  out += "faultline: ";
  write_fit(out, entry.message, false);
  for (const LogField& field : entry.fields) {
    out.append(", ").append(field.name).append(" ");
    write_value(out, field.value);
  }
}

}  // namespace

std::string log_line(const LogEntry& entry, LogFormat format, const LogStamp& stamp) {
  std::string out;
  if (stamp.marks_priority) out = fmt::format("<{}>", priority_of(entry.level));
  if (format == LogFormat::plain) {
    write_plain(out, entry);
  } else {
    std::vector<LogField> fields = heading_of(entry, stamp);
    fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
    format == LogFormat::json ? write_json(out, fields) : write_logfmt(out, fields);
  }
  return out += '\n';
}

}  // namespace faultline
