#include "simulate/dump_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <unordered_map>

namespace faultline::simulation {
namespace {

class Pickler {
 public:
  std::string write(const DumpValue& value) {
    out_ = std::string("\x80\x02", 2);
    put(value);
    out_ += '.';
    return std::move(out_);
  }

 private:
  void put(const DumpValue& value) {
    if (value.shared >= 0) {
      if (const auto known = shared_.find(value.shared); known != shared_.end())
        return get(known->second);
    }
    std::visit([&](const auto& it) { put(it); }, value.value);
    if (value.shared >= 0) shared_[value.shared] = remember();
  }

  void put(DumpValue::None) { out_ += 'N'; }
  void put(bool value) { out_ += value ? '\x88' : '\x89'; }
  void put(double value) {
    out_ += 'G';
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 7; byte >= 0; --byte) out_ += static_cast<char>(bits >> (8 * byte));
  }
  void put(std::int64_t value) {
    using Short = std::numeric_limits<std::int32_t>;
    if (value >= 0 && value <= 0xff) {
      out_ += 'K';
      little(static_cast<std::uint64_t>(value), 1);
    } else if (value >= 0 && value <= 0xffff) {
      out_ += 'M';
      little(static_cast<std::uint64_t>(value), 2);
    } else if (value >= Short::min() && value <= Short::max()) {
      out_ += 'J';
      little(static_cast<std::uint64_t>(value), 4);
    } else {
      out_ += "\x8a\x08";
      little(static_cast<std::uint64_t>(value), 8);
    }
  }
  void put(const std::string& text) {
    const auto known = texts_.find(text);
    if (known != texts_.end()) return get(known->second);
    out_ += 'X';
    little(text.size(), 4);
    out_ += text;
    texts_.emplace(text, remember());
  }
  void put(const DumpValue::List& list) {
    out_ += "](";
    for (const DumpValue& item : list.items) put(item);
    out_ += 'e';
  }
  void put(const DumpValue::Tuple& tuple) {
    for (const DumpValue& item : tuple.items) put(item);
    out_ += '\x86';  // pairs only
  }
  void put(const DumpValue::Dictionary& dictionary) {
    out_ += "}(";
    for (const auto& [name, value] : dictionary.members) {
      put(name);
      put(value);
    }
    out_ += 'u';
  }

  void little(std::uint64_t value, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) out_ += static_cast<char>(value >> (8 * byte));
  }
  std::uint32_t remember() {
    indexed('q', 'r', memo_);
    return memo_++;
  }
  void get(std::uint32_t slot) { indexed('h', 'j', slot); }
  void indexed(char brief, char full, std::uint32_t slot) {
    out_ += slot <= 0xff ? brief : full;
    little(slot, slot <= 0xff ? 1 : 4);
  }

  std::string out_;
  std::uint32_t memo_ = 0;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::unordered_map<int, std::uint32_t> shared_;
};

class JsonWriter {
 public:
  std::string write(const DumpValue& value) {
    put(value);
    return std::move(out_);
  }

 private:
  void put(const DumpValue& value) {
    std::visit([&](const auto& it) { put(it); }, value.value);
  }
  void put(DumpValue::None) { out_ += "null"; }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(double value) { out_ += fmt::format("{}", value); }
  void put(std::int64_t value) { out_ += std::to_string(value); }
  void put(const std::string& text) {
    out_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c;
    }
    out_ += '"';
  }
  void put(const DumpValue::List& list) { array(list.items); }
  void put(const DumpValue::Tuple& tuple) { array(tuple.items); }
  void array(const std::vector<DumpValue>& items) {
    out_ += '[';
    for (const DumpValue& item : items) {
      if (&item != &items.front()) out_ += ',';
      put(item);
    }
    out_ += ']';
  }
  void put(const DumpValue::Dictionary& dictionary) {
    std::vector<const DumpValue::Member*> members;
    for (const auto& member : dictionary.members) members.push_back(&member);
    std::ranges::sort(members, {}, &DumpValue::Member::name);
    out_ += '{';
    for (const auto* member : members) {
      if (member != members.front()) out_ += ',';
      put(member->name);
      out_ += ':';
      put(member->value);
    }
    out_ += '}';
  }

  std::string out_;
};

}  // namespace

std::string pickled(const DumpValue& value) { return Pickler().write(value); }
std::string as_json(const DumpValue& value) { return JsonWriter().write(value); }

}  // namespace faultline::simulation
