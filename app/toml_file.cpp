#include "app/toml_file.h"

#include <fmt/format.h>

// The reader asserts what a file can bring about, such as a table in three brackets, and then
// refuses it as it should.
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "rules/answer/shown_text.h"

namespace faultline {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw refusal_at(name, 0, "is a folder; name a file of settings in TOML");
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad())
    throw refusal_at(name, 0, "cannot be read; name a file of settings that is there");
  return bytes;
}

// The key of `key = value` on that line, for whoever made a mistake in the value.
std::string key_on(std::string_view bytes, std::size_t line) {
  for (; line > 1 && !bytes.empty(); --line)
    bytes.remove_prefix(std::min(bytes.find('\n'), bytes.size() - 1) + 1);
  bytes = bytes.substr(0, bytes.find('\n'));
  const std::size_t end = bytes.find('=');
  if (end == std::string_view::npos) return {};
  bytes = bytes.substr(0, end);
  while (bytes.starts_with(' ') || bytes.starts_with('\t')) bytes.remove_prefix(1);
  while (bytes.ends_with(' ') || bytes.ends_with('\t')) bytes.remove_suffix(1);
  return std::string(bytes);
}

// What the library's words are about, and how to mend it.
struct Mend {
  std::string_view of;
  std::string_view how;
  bool names_key = true;
};
constexpr Mend kMends[] = {
    {"value: encountered end-of-file", "the value is missing"},
    {"could not determine", "a text stands in quotes, such as \"llama\""},
    {"pair: encountered end-of-file", "a setting is a line such as job = \"llama\"", false},
    {"table header", "a table begins with a line such as [[receiver]]", false},
    {"control characters", "the text has no quote at its end; add it on the same line"},
    {"encountered end-of-file", "the value has no end; close its quotes or brackets"},
    {"decimal integer", "a text stands in quotes, such as \"90s\""},
    {"parsing boolean", "write true or false, or quotes around a text"},
    {"parsing float", "a text stands in quotes, such as \"90s\""},
    {"unknown escape sequence", "write \\\\ for a backslash, or 'quotes' of this kind"},
    {"parsing array", "a list is such as [\"a\", \"b\"]; close its bracket", false},
    {"expected '='", "a setting is a line such as job = \"llama\"", false},
    {"utf-8", "the file is no text in UTF-8; name a file of settings in TOML", false},
    {"expected a comment or whitespace", "one setting a line", true},
};

std::string explained(const toml::parse_error& error, std::string_view bytes) {
  const std::string_view what = error.description();
  const std::string key = key_on(bytes, error.source().begin.line);
  const std::string about = key.empty() ? "" : fmt::format("bad value for \"{}\": ", key);
  if (what.find("cannot redefine") != std::string_view::npos)
    return key.empty() ? "this table is there already; each of several begins with two brackets, "
                         "such as [[receiver]]"
                       : fmt::format("\"{}\" is set twice; keep one", key);
  for (const Mend& mend : kMends)
    if (what.find(mend.of) != std::string_view::npos)
      return fmt::format("{}{}", mend.names_key ? about : "not valid TOML: ", mend.how);
  return fmt::format("not valid TOML: {}", what);
}

// The values of one node, which may be a list of them.
class ValueReader {
 public:
  ValueReader(std::string_view file, std::string_view key) : file_(file), key_(key) {}

  ConfigValue read(const toml::node& node) const {
    ConfigValue value{.line = node.source().begin.line};
    const toml::array* list = node.as_array();
    value.is_list = list != nullptr;
    if (list == nullptr) {
      add(node, value);
      return value;
    }
    for (const toml::node& one : *list) add(one, value);
    return value;
  }

 private:
  void add(const toml::node& node, ConfigValue& value) const {
    const auto [text, kind] = scalar(node);
    if (!value.texts.empty() && kind != value.kind)
      throw refusal_at(file_, value.line,
                       fmt::format("bad value for \"{}\": a list holds values of one kind", key_));
    value.texts.push_back(text);
    value.kind = kind;
  }

  std::pair<std::string, ConfigKind> scalar(const toml::node& node) const {
    if (const auto text = node.value_exact<std::string>()) return {*text, ConfigKind::text};
    if (const auto yes = node.value_exact<bool>())
      return {*yes ? "true" : "false", ConfigKind::boolean};
    if (const auto number = node.value_exact<std::int64_t>())
      return {std::to_string(*number), ConfigKind::number};
    if (const auto number = node.value_exact<double>())
      return {fmt::format("{}", *number), ConfigKind::number};
    throw refusal_at(file_, node.source().begin.line,
                     fmt::format("bad value for \"{}\": must be a text in quotes, a number, true, "
                                 "false, or a list of texts",
                                 key_));
  }

  std::string_view file_;
  std::string_view key_;
};

ConfigTable table_of(const toml::table& table, const std::string& file, const std::string& name) {
  ConfigTable rows{.file = file, .name = name, .line = table.source().begin.line, .values = {}};
  for (const auto& [key, node] : table)
    rows.values.emplace(key.str(), ValueReader(file, key.str()).read(node));
  return rows;
}

}  // namespace

std::vector<ConfigTable> read_toml(const std::filesystem::path& file) {
  const std::string name = file.string();
  const std::string bytes = bytes_of(file);
  toml::table root;
  try {
    root = toml::parse(bytes);
  } catch (const toml::parse_error& error) {
    throw refusal_at(name, error.source().begin.line, explained(error, bytes));
  }
  std::vector<ConfigTable> tables;
  ConfigTable own{.file = name, .name = "", .values = {}};
  for (const auto& [key, node] : root) {
    const std::string of(key.str());
    const toml::array* list = node.as_array();
    if (const toml::table* table = node.as_table())
      tables.push_back(table_of(*table, name, of));
    else if (list != nullptr && !list->empty() && list->is_homogeneous<toml::table>())
      for (const toml::node& one : *list) tables.push_back(table_of(*one.as_table(), name, of));
    else
      own.values.emplace(of, ValueReader(name, of).read(node));
  }
  std::ranges::stable_sort(tables, {}, &ConfigTable::line);
  tables.insert(tables.begin(), std::move(own));
  return tables;
}

std::runtime_error refusal_at(std::string_view file, std::size_t line, std::string_view why) {
  const std::string where = line == 0 ? "" : fmt::format("line {}: ", line);
  return std::runtime_error(shown(fmt::format("{}: {}{}", file, where, why), SIZE_MAX));
}

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string{'\\', c};
    else if (code < 0x20 || code == 0x7f)
      out += fmt::format("\\u{:04x}", code);
    else
      out += c;
  }
  return out + '"';
}

}  // namespace faultline
