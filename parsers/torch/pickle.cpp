#include "parsers/torch/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace faultline {
namespace {

using Index = ValueTree::Index;
using Kind = ValueTree::Kind;

constexpr std::size_t kMaxMarks = 64;
constexpr std::size_t kMaxStack = std::size_t{1} << 18;
constexpr std::size_t kMaxMemo = std::size_t{1} << 20;
constexpr std::size_t kMaxText = std::size_t{1} << 20;

struct Opcode {
  unsigned char code;
  std::string_view name;
};

// The opcodes that are refused, with their names in pickletools.
constexpr Opcode kRefused[] = {
    {0x63, "GLOBAL"},     {0x93, "STACK_GLOBAL"}, {0x52, "REDUCE"},
    {0x62, "BUILD"},      {0x69, "INST"},         {0x6f, "OBJ"},
    {0x81, "NEWOBJ"},     {0x92, "NEWOBJ_EX"},    {0x82, "EXT1"},
    {0x83, "EXT2"},       {0x84, "EXT4"},         {0x50, "PERSID"},
    {0x51, "BINPERSID"},  {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"},
    {0x96, "BYTEARRAY8"}, {0x42, "BINBYTES"},     {0x43, "SHORT_BINBYTES"},
    {0x8e, "BINBYTES8"},  {0x8f, "EMPTY_SET"},    {0x90, "ADDITEMS"},
    {0x91, "FROZENSET"},  {0x8b, "LONG4"},        {0x30, "POP"},
    {0x31, "POP_MARK"},   {0x32, "DUP"},          {0x64, "DICT"},
    {0x6c, "LIST"},       {0x67, "GET"},          {0x70, "PUT"},
    {0x46, "FLOAT"},      {0x49, "INT"},          {0x4c, "LONG"},
    {0x53, "STRING"},     {0x54, "BINSTRING"},    {0x55, "SHORT_BINSTRING"},
    {0x56, "UNICODE"},
};

bool names_code(unsigned char code) {
  constexpr std::string_view kCode = "\x63\x93\x52\x62\x69\x6f\x81\x92\x82\x83\x84\x50\x51";
  return kCode.find(static_cast<char>(code)) != std::string_view::npos;
}

// How much of 64 MB is left for the tree, beside the bytes, the stack and the memo. The buffer of a
// large pickle may have room for the largest one, so this size is subtracted then.
std::size_t memory_for_tree(std::size_t bytes) {
  constexpr std::size_t kAll = std::size_t{64} << 20;
  constexpr std::size_t kBesides = std::size_t{10} << 20;
  return kAll - kBesides - (bytes > kMaxPickleBytes / 3 ? kMaxPickleBytes : bytes);
}

class PickleReader {
 public:
  explicit PickleReader(std::string_view bytes) : bytes_(bytes) {
    pickle_.tree = ValueTree(memory_for_tree(bytes.size()));
  }

  Pickle read() {
    start();
    while (going_) step();
    if (pickle_.outcome == Pickle::Outcome::broken_off) salvage();
    if (pickle_.outcome != Pickle::Outcome::refused) {
      const std::string_view endless = pickle_.tree.why_endless();
      if (!endless.empty()) refuse(std::string(endless));
    }
    if (pickle_.outcome == Pickle::Outcome::refused) pickle_.tree = ValueTree();
    return std::move(pickle_);
  }

 private:
  void refuse(std::string why) {
    going_ = false;
    pickle_.outcome = Pickle::Outcome::refused;
    if (pickle_.reason.empty())
      pickle_.reason = fmt::format("{} (byte {} of the pickle)", why, opcode_at_);
  }

  void end_of_bytes() {
    going_ = false;
    pickle_.outcome = Pickle::Outcome::broken_off;
    pickle_.consumed = bytes_.size();
  }

  // If there are fewer bytes: nothing, and reading ends.
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      end_of_bytes();
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  std::uint64_t little_endian(std::size_t size) {
    const std::string_view taken = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = taken.size(); i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(taken[i]);
    return value;
  }

  void start() {
    if (bytes_.size() > kMaxPickleBytes)
      return refuse(fmt::format("it is larger than {} MB", kMaxPickleBytes >> 20));
    const std::string_view head = take(2);
    if (!going_) return;
    const auto protocol = static_cast<unsigned char>(head[1]);
    if (head[0] != '\x80')
      refuse("protocols 0 and 1 are not read; store it with protocol 2 or later");
    else if (protocol < 2 || protocol > 5)
      refuse(fmt::format("protocol {} is not known", protocol));
  }

  void step() {
    opcode_at_ = at_;
    const std::string_view opcode = take(1);
    if (!going_) return;
    const auto code = static_cast<unsigned char>(opcode[0]);
    switch (code) {
      case 0x2e:
        return stop();
      case 0x28:
        return mark();
      case 0x7d:
        return push(tree_.add(Kind::dictionary));
      case 0x5d:
        return push(tree_.add(Kind::list));
      case 0x29:
        return push(tree_.add(Kind::tuple));
      case 0x75:
        return set_items();
      case 0x65:
        return append_items();
      case 0x73:
        return fill(Kind::dictionary, 2, "SETITEM");
      case 0x61:
        return fill(Kind::list, 1, "APPEND");
      case 0x85:
        return tuple(1);
      case 0x86:
        return tuple(2);
      case 0x87:
        return tuple(3);
      case 0x74:
        return marked_tuple();
      case 0x58:
        return text(4);
      case 0x8c:
        return text(1);
      case 0x8d:
        return text(8);
      case 0x71:
        return put(1);
      case 0x72:
        return put(4);
      case 0x94:
        return remember(memo_count_);
      case 0x68:
        return get(1);
      case 0x6a:
        return get(4);
      case 0x4b:
        return integer(1);
      case 0x4d:
        return integer(2);
      case 0x4a:
        return integer(4);
      case 0x8a:
        return long_integer();
      case 0x47:
        return real();
      case 0x88:
        return push(tree_.add_boolean(true));
      case 0x89:
        return push(tree_.add_boolean(false));
      case 0x4e:
        return push(tree_.add(Kind::none));
      case 0x95:
        return frame();
      case 0x80:
        return refuse("a second PROTO");
      default:
        return refuse_opcode(code);
    }
  }

  void refuse_opcode(unsigned char code) {
    const auto* known = std::ranges::find(kRefused, code, &Opcode::code);
    if (known == std::end(kRefused)) return refuse(fmt::format("0x{:02x} is not an opcode", code));
    refuse(names_code(code)
               ? fmt::format("it names code to run ({}); such pickles, as fr_trace -o writes them, "
                             "are never opened",
                             known->name)
               : fmt::format("opcode {}, which no dump needs", known->name));
  }

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  void push(Index value) {
    if (value == ValueTree::kNothing) return refuse("more values than a dump has");
    if (stack_.size() >= kMaxStack) return refuse("more values at once than a dump has");
    stack_.push_back(value);
  }

  void mark() {
    if (marks_.size() >= kMaxMarks) return refuse("nested deeper than a dump is");
    marks_.push_back(stack_.size());
  }

  void set_items() {
    if (marks_.empty()) return refuse("SETITEMS without a MARK");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    fill(Kind::dictionary, count, "SETITEMS");
  }

  void append_items() {
    if (marks_.empty()) return refuse("APPENDS without a MARK");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    fill(Kind::list, count, "APPENDS");
  }

  // Puts the topmost `count` values into the container below them.
  void fill(Kind kind, std::size_t count, std::string_view opcode) {
    if (stack_.size() < floor() + count + 1)
      return refuse(fmt::format("{} without a container", opcode));
    const std::size_t first = stack_.size() - count;
    const Index container = stack_[first - 1];
    if (tree_.kind(container) != kind) return refuse(fmt::format("{} into something else", opcode));
    if (kind == Kind::dictionary && count % 2 != 0) return refuse("a key without a value");
    for (std::size_t i = first; i < stack_.size(); ++i) {
      if (kind == Kind::dictionary && (i - first) % 2 == 0 && tree_.is_container(stack_[i]))
        return refuse("a key that is a container");
      if (!tree_.append(container, stack_[i])) return refuse("more elements than a dump has");
    }
    stack_.resize(first);
  }

  void tuple(std::size_t count) {
    if (stack_.size() < floor() + count) return refuse("a TUPLE of too few values");
    const Index tuple = tree_.add(Kind::tuple);
    if (tuple == ValueTree::kNothing) return push(tuple);
    for (std::size_t i = stack_.size() - count; i < stack_.size(); ++i)
      if (!tree_.append(tuple, stack_[i])) return refuse("more elements than a dump has");
    stack_.resize(stack_.size() - count);
    push(tuple);
  }

  void marked_tuple() {
    if (marks_.empty()) return refuse("TUPLE without a MARK");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    tuple(count);
  }

  void text(std::size_t length_bytes) {
    const std::uint64_t length = little_endian(length_bytes);
    if (!going_) return;
    if (length > kMaxText) return refuse(fmt::format("a text of {} bytes is too long", length));
    const std::string_view text = take(length);
    if (!going_) return;
    if (!is_utf8(text)) return refuse("a text that is not UTF-8");
    push(tree_.add_text(text));
  }

  void put(std::size_t operand_bytes) {
    const std::uint64_t slot = little_endian(operand_bytes);
    if (going_) remember(slot);
  }

  void remember(std::uint64_t slot) {
    if (stack_.size() <= floor()) return refuse("no value for the memo");
    // Writers number memo entries one by one, so there cannot be more entries than bytes so far. Do
    // not count bytes that may follow: the result would depend on how much has arrived.
    if (slot >= kMaxMemo || slot > at_) return refuse("more memo entries than bytes");
    if (slot >= memo_.size()) memo_.resize(static_cast<std::size_t>(slot) + 1, ValueTree::kNothing);
    Index& place = memo_[static_cast<std::size_t>(slot)];
    if (place == ValueTree::kNothing) ++memo_count_;
    place = stack_.back();
  }

  void get(std::size_t operand_bytes) {
    const std::uint64_t slot = little_endian(operand_bytes);
    if (!going_) return;
    if (slot >= memo_.size() || memo_[static_cast<std::size_t>(slot)] == ValueTree::kNothing)
      return refuse(fmt::format("the memo has no entry {}", slot));
    push(memo_[static_cast<std::size_t>(slot)]);
  }

  void integer(std::size_t size) {
    const std::uint64_t value = little_endian(size);
    if (!going_) return;
    push(tree_.add_integer(size == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value))
                                     : static_cast<std::int64_t>(value)));
  }

  // Two's complement, little-endian. One byte before the number says how many bytes it has.
  void long_integer() {
    const std::uint64_t size = little_endian(1);
    if (!going_) return;
    if (size > 8) return refuse(fmt::format("a number of {} bytes is too long", size));
    std::uint64_t value = little_endian(static_cast<std::size_t>(size));
    if (!going_) return;
    if (size > 0 && size < 8 && (value >> (8 * size - 1) & 1) != 0) value |= ~0ULL << (8 * size);
    push(tree_.add_integer(static_cast<std::int64_t>(value)));
  }

  void real() {
    const std::string_view bytes = take(8);
    std::uint64_t bits = 0;
    for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
    if (going_) push(tree_.add_real(std::bit_cast<double>(bits)));
  }

  // A frame only helps readers that fetch ahead; it must not go on after STOP.
  void frame() {
    const std::uint64_t size = little_endian(8);
    if (going_ && size > bytes_.size() - at_) frame_goes_on_ = true;
  }

  void stop() {
    if (!marks_.empty()) return refuse("STOP within a container");
    if (stack_.size() != 1) return refuse(fmt::format("{} values at STOP", stack_.size()));
    if (frame_goes_on_) return refuse("a FRAME that goes on after STOP");
    going_ = false;
    pickle_.outcome = Pickle::Outcome::whole;
    pickle_.consumed = at_;
    tree_.set_root(stack_.front());
  }

  // Puts the values on the stack into the containers that were open when the pickle broke off.
  void salvage() {
    // The pickle may have broken off before an empty container was filled.
    if (!stack_.empty() && tree_.is_container(stack_.back()) && tree_.size(stack_.back()) == 0)
      tree_.mark_unfinished(stack_.back());
    while (!marks_.empty()) {
      const std::size_t first = marks_.back();
      marks_.pop_back();
      if (first > 0 && first >= floor()) {
        const Index container = stack_[first - 1];
        const Kind kind = tree_.kind(container);
        std::size_t end = stack_.size();
        if (kind == Kind::dictionary) end -= (end - first) % 2;
        if (kind == Kind::dictionary || kind == Kind::list) {
          tree_.mark_unfinished(container);
          for (std::size_t i = first; i < end; ++i)
            if (!tree_.append(container, stack_[i])) break;
        }
      }
      stack_.resize(std::min(first, stack_.size()));
    }
    if (stack_.empty()) return;
    tree_.mark_unfinished(stack_.front());
    tree_.set_root(stack_.front());
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  bool going_ = true;
  bool frame_goes_on_ = false;
  Pickle pickle_;
  ValueTree& tree_ = pickle_.tree;
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Index> memo_;
  std::uint64_t memo_count_ = 0;
};

}  // namespace

bool begins_pickle(std::string_view bytes) {
  if (bytes.empty() || bytes[0] != '\x80') return false;
  return bytes.size() < 2 || (bytes[1] >= 0 && bytes[1] <= 9);
}

Pickle read_pickle(std::string_view bytes) { return PickleReader(bytes).read(); }

bool is_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) {
      ++at;
      continue;
    }
    const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || more >= text.size() - at) return false;
    std::uint32_t point = first & (0x3fU >> more);
    for (std::size_t i = 1; i <= more; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    if ((more == 2 && point < 0x800) || (more == 3 && (point < 0x10000 || point > 0x10ffff)))
      return false;
    at += more + 1;
  }
  return true;
}

}  // namespace faultline
