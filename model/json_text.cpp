// JSON values as text. Boost's own writer is not used for answers: it prints 0.98 as 9.8E-1, cannot
// indent, and passes on bytes that are not UTF-8, which log lines may well contain.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "model/json.h"
#include "model/utf8.h"

namespace faultline {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

class Writer {
 public:
  explicit Writer(bool indented) : indented_(indented) {}

  void write(const boost::json::value& value) {
    switch (value.kind()) {
      case boost::json::kind::null:
        out_ += "null";
        break;
      case boost::json::kind::bool_:
        out_ += value.get_bool() ? "true" : "false";
        break;
      case boost::json::kind::int64:
        fmt::format_to(std::back_inserter(out_), "{}", value.get_int64());
        break;
      case boost::json::kind::uint64:
        fmt::format_to(std::back_inserter(out_), "{}", value.get_uint64());
        break;
      case boost::json::kind::double_:
        write_double(value.get_double());
        break;
      case boost::json::kind::string:
        write_string(value.get_string());
        break;
      case boost::json::kind::array:
        write_array(value.get_array());
        break;
      case boost::json::kind::object:
        write_object(value.get_object());
        break;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void write_double(double number) {
    if (!std::isfinite(number)) {
      out_ += "null";  // JSON has no word for it
      return;
    }
    fmt::format_to(std::back_inserter(out_), "{}", number);
  }

  void write_string(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const std::size_t length = utf8_length(text);
      if (length == 0) {
        out_ += kReplacement;
        text.remove_prefix(1);
        continue;
      }
      if (length == 1) {
        write_ascii(text.front());
      } else if (length == 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) < 0xa0) {
        // U+0080 to U+009F, which a terminal may take for commands.
        write_escaped(static_cast<unsigned char>(text[1]));
      } else {
        out_.append(text.substr(0, length));
      }
      text.remove_prefix(length);
    }
    out_ += '"';
  }

  void write_escaped(unsigned code) { fmt::format_to(std::back_inserter(out_), "\\u{:04x}", code); }

  void write_ascii(char c) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          write_escaped(static_cast<unsigned char>(c));
        } else {
          out_ += c;
        }
    }
  }

  void write_array(const boost::json::array& array) {
    // A list of plain numbers stays on one line: sixty-four ranks are not sixty-four lines.
    bool flat = true;
    for (const auto& element : array) flat = flat && element.is_number();
    out_ += '[';
    bool first = true;
    ++depth_;
    for (const auto& element : array) {
      if (!first) out_ += indented_ && flat ? ", " : ",";
      first = false;
      if (!flat) new_line();
      write(element);
    }
    --depth_;
    if (!flat) new_line();
    out_ += ']';
  }

  void write_object(const boost::json::object& object) {
    out_ += '{';
    bool first = true;
    ++depth_;
    for (const auto& [key, value] : object) {
      if (!first) out_ += ',';
      first = false;
      new_line();
      write_string(key);
      out_ += indented_ ? ": " : ":";
      write(value);
    }
    --depth_;
    if (!object.empty()) new_line();
    out_ += '}';
  }

  void new_line() {
    if (!indented_) return;
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  bool indented_;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string compact(const boost::json::value& value) {
  Writer writer(false);
  writer.write(value);
  return writer.take();
}

std::string pretty(const boost::json::value& value) {
  Writer writer(true);
  writer.write(value);
  return writer.take() + '\n';
}

}  // namespace faultline
