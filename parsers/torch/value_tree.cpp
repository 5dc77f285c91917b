#include "parsers/torch/value_tree.h"

#include <algorithm>
#include <utility>

namespace faultline {
namespace {

// A dump needs only five levels.
constexpr std::uint8_t kMaxDepth = 64;

// How many values a walk through the tree may meet. A part that others share counts each time.
constexpr std::uint32_t kMaxMet = std::uint32_t{1} << 23;

constexpr std::size_t kMaxCopied = std::size_t{32} << 20;
constexpr std::size_t kCopyBlock = std::size_t{64} << 10;

}  // namespace

std::optional<std::int64_t> ValueTree::integer(Index value) const {
  if (value == kNothing || kind(value) != Kind::integer) return std::nullopt;
  return values_[value].integer;
}

std::optional<double> ValueTree::number(Index value) const {
  if (value != kNothing && kind(value) == Kind::real) return values_[value].real;
  const auto whole = integer(value);
  if (!whole) return std::nullopt;
  return static_cast<double>(*whole);
}

std::optional<bool> ValueTree::boolean(Index value) const {
  if (value == kNothing || kind(value) != Kind::boolean) return std::nullopt;
  return values_[value].integer != 0;
}

std::optional<std::string_view> ValueTree::text(Index value) const {
  if (value == kNothing || kind(value) != Kind::text) return std::nullopt;
  return std::string_view(values_[value].text, values_[value].size);
}

ValueTree::Index ValueTree::member(Index dictionary, std::string_view key) const {
  Index found = kNothing;
  if (dictionary == kNothing) return found;
  for_each_member(dictionary, [&](std::string_view name, Index value) {
    if (name == key) found = value;
  });
  return found;
}

bool ValueTree::fits(std::size_t more_bytes) {
  if (more_bytes > most_bytes_ - bytes_) return false;
  bytes_ += more_bytes;
  return true;
}

ValueTree::Index ValueTree::add(Kind kind) {
  if (values_.size() >= kMaxValues || !fits(sizeof(Value) + sizeof(Seen))) return kNothing;
  Value& value = values_.push_back({});
  value.kind = kind;
  value.integer = 0;
  if (kind >= Kind::list) value.first = value.last = kNothing;
  return static_cast<Index>(values_.size() - 1);
}

ValueTree::Index ValueTree::add_boolean(bool boolean) {
  const Index index = add(Kind::boolean);
  if (index != kNothing) values_[index].integer = boolean ? 1 : 0;
  return index;
}

ValueTree::Index ValueTree::add_integer(std::int64_t integer) {
  const Index index = add(Kind::integer);
  if (index != kNothing) values_[index].integer = integer;
  return index;
}

ValueTree::Index ValueTree::add_real(double real) {
  const Index index = add(Kind::real);
  if (index != kNothing) values_[index].real = real;
  return index;
}

ValueTree::Index ValueTree::add_text(std::string_view text) {
  const Index index = add(Kind::text);
  if (index == kNothing) return index;
  values_[index].text = text.data();
  values_[index].size = static_cast<std::uint32_t>(text.size());
  return index;
}

ValueTree::Index ValueTree::add_text_copy(std::string_view text) {
  copied_ += text.size();
  if (copied_ > kMaxCopied) return kNothing;
  // Blocks never grow, so references into them stay valid.
  if (copies_.empty() || copies_.back().capacity() - copies_.back().size() < text.size())
    copies_.emplace_back().reserve(std::max(kCopyBlock, text.size()));
  std::string& block = copies_.back();
  const std::size_t at = block.size();
  block += text;
  return add_text(std::string_view(block).substr(at));
}

bool ValueTree::append(Index container, Index element) {
  if (elements_.size() >= kMaxElements || !fits(sizeof(Element))) return false;
  const auto index = static_cast<Index>(elements_.size());
  elements_.push_back({element, kNothing});
  Value& value = values_[container];
  if (value.last == kNothing)
    value.first = index;
  else
    elements_[value.last].next = index;
  value.last = index;
  ++value.size;
  return true;
}

std::string_view ValueTree::why_endless() const {
  if (root_ == kNothing || !is_container(root_)) return {};
  // Depth first, without recursion.
  std::vector<Seen> seen(values_.size());
  struct Step {
    Index container;
    Index next;  // element
  };
  std::vector<Step> path{{root_, values_[root_].first}};
  seen[root_].open = true;
  while (!path.empty()) {
    Step& step = path.back();
    Seen& here = seen[step.container];
    if (step.next == kNothing) {
      here.open = false;
      here.met += 1;
      here.height += 1;
      path.pop_back();
      if (here.met > kMaxMet) return "it contains the same parts too often";
      if (path.empty()) break;
      Seen& around = seen[path.back().container];
      around.met = std::min(around.met + here.met, kMaxMet + 1);
      around.height = std::max(around.height, here.height);
      continue;
    }
    const Element& element = elements_[step.next];
    step.next = element.next;
    const Seen& there = seen[element.value];
    if (!is_container(element.value)) {
      here.met = std::min(here.met + 1, kMaxMet + 1);
    } else if (there.open) {
      return "it contains itself";
    } else if (there.met > 0) {
      here.met = std::min(here.met + there.met, kMaxMet + 1);
      here.height = std::max(here.height, there.height);
    } else {
      if (path.size() >= kMaxDepth) return "it is nested too deeply";
      seen[element.value].open = true;
      path.push_back({element.value, values_[element.value].first});
      continue;
    }
    if (here.height >= kMaxDepth) return "it is nested too deeply";
  }
  return {};
}

}  // namespace faultline
