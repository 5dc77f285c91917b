#include "parsers/tool/tool_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace faultline {
namespace {

constexpr std::size_t kMaxValues = 2048;      // in a part
constexpr std::size_t kMaxValueBytes = 1024;  // a longer text is ignored

bool is_name_character(char c) {
  return is_letter_character(c) || is_digit_character(c) || c == '_' || c == '-' || c == '.';
}

bool all_names(std::string_view word) { return std::ranges::all_of(word, is_name_character); }

bool begins_with_one_of(std::string_view word, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return word.starts_with(prefix); });
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

// 946d:ae03:00a1:b2c2 without its colons; empty if the text has another form.
std::string without_colons(std::string_view text) {
  std::string digits;
  int groups = 1;
  for (const char c : text) {
    if (c == ':')
      ++groups;
    else
      digits.push_back(c);
  }
  return groups == 4 ? digits : std::string();
}

}  // namespace

std::string_view take_off_word(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  const std::size_t end = std::min(rest.find_first_of(" \t", begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word = take_off_word(text); !word.empty(); word = take_off_word(text))
    words.push_back(word);
  return words;
}

std::optional<KeyAndValue> key_and_value(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  return KeyAndValue{trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1))};
}

std::optional<KeyAndValue> padded_key_and_value(std::string_view text) {
  const std::size_t colon = text.find(" :");
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view value = text.substr(colon + 2);
  if (!value.empty() && value.front() != ' ') return std::nullopt;
  return KeyAndValue{trimmed(text.substr(0, colon)), trimmed(value)};
}

bool is_decimal(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit_character);
}

bool is_number(std::string_view text) {
  return is_decimal(text) || (text.starts_with("0x") && is_hex(text.substr(2)));
}

bool is_rdma_device(std::string_view word) {
  return word.size() < 32 && !word.empty() && is_digit_character(word.back()) &&
         begins_with_one_of(word, {"mlx", "bnxt_re", "rdma", "efa_", "irdma", "roce", "ibp", "qedr",
                                   "hfi1_", "mthca", "hns_", "erdma"}) &&
         all_names(word) && word.find('.') == word.npos;
}

bool is_network_interface(std::string_view word) {
  constexpr std::size_t kMostOfAnInterface = 15;  // the kernel's limit
  return word.size() > 2 && word.size() <= kMostOfAnInterface &&
         begins_with_one_of(word, {"eno", "enp", "ens", "enP", "enx", "eth", "ib", "bond", "hsn",
                                   "rdma", "roce", "team", "mlx"}) &&
         std::ranges::any_of(word, is_digit_character) && all_names(word) &&
         word.find('-') == word.npos;
}

bool is_host_name(std::string_view word) {
  return !word.empty() && word.size() <= 255 && all_names(word) && word.front() != '-' &&
         std::ranges::any_of(word, is_letter_character);
}

std::string canonical_guid(std::string_view text) {
  const std::string joined = text.find(':') == text.npos ? std::string() : without_colons(text);
  std::string_view digits = joined.empty() ? text : std::string_view(joined);
  if (!take_off(digits, "0x") && digits.size() != 16) return {};
  if (!is_hex(digits) || digits.size() > 16) return {};
  std::uint64_t guid = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), guid, 16);
  return guid == 0 ? std::string() : fmt::format("0x{:016x}", guid);
}

std::string assigned_lid(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint32_t lid = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), lid, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return lid == 0 || lid == 0xffff ? std::string() : fmt::format("{}", lid);
}

std::string port_name(std::string_view text) {
  return text == "255" ? std::string("ALL") : std::string(text);
}

void set_value(std::vector<NamedValue>& values, std::string_view name, std::string_view value) {
  if (name.empty() || name.size() > kMaxValueBytes || value.size() > kMaxValueBytes) return;
  const auto known = std::ranges::find(values, name, &NamedValue::name);
  if (known != values.end())
    known->value = value;
  else if (values.size() < kMaxValues)
    values.push_back({std::string(name), std::string(value)});
}

void set_name(std::vector<NamedValue>& names, std::string_view name, std::string_view value) {
  if (!value.empty()) set_value(names, name, value);
}

std::string_view value_of(const std::vector<NamedValue>& values, std::string_view name) {
  const auto known = std::ranges::find(values, name, &NamedValue::name);
  return known == values.end() ? std::string_view() : std::string_view(known->value);
}

void add_node_names(std::vector<NamedValue>& names, std::string_view description,
                    std::string_view prefix) {
  description = trimmed(description);
  if (description.empty()) return;
  const std::string before(prefix);
  set_value(names, before + "node", description);
  const std::vector<std::string_view> words = words_of(description);
  if (words.size() != 2 || !is_host_name(words[0])) return;
  const bool device = is_rdma_device(words[1]);
  if (!device && !words[1].starts_with("HCA-")) return;
  set_value(names, before + "host", words[0]);
  if (device) set_value(names, before + "device", words[1]);
}

}  // namespace faultline
