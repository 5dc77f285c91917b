#include "rules/knowledge/yaml_node.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>

namespace faultline {
namespace {

constexpr std::string_view kPacked{"\0faultline yaml 1\n", 18};
// A small file may expand to very much, if it refers to its own parts many times.
constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr int kMostDepth = 64;

void add_number(std::uint64_t number, std::string& bytes) {
  while (number >= 0x80) {
    bytes += static_cast<char>(number | 0x80);
    number >>= 7;
  }
  bytes += static_cast<char>(number);
}

std::uint32_t line_of(const YAML::Node& node) {
  return static_cast<std::uint32_t>(std::max(node.Mark().line, 0)) + 1;
}

}  // namespace

std::vector<YamlNode::Field> YamlNode::fields() const {
  std::vector<Field> fields;
  if (is_map())
    for (std::size_t i = 0; i + 1 < children_.size(); i += 2)
      fields.push_back({children_[i], children_[i + 1]});
  return fields;
}

const YamlNode* YamlNode::find(std::string_view key) const {
  if (is_map())
    for (std::size_t i = 0; i + 1 < children_.size(); i += 2)
      if (children_[i].is_text() && children_[i].text_ == key) return &children_[i + 1];
  return nullptr;
}

// Counts first, so that neither nodes nor texts move once something points to them.
class YamlTree::Parsed {
 public:
  explicit Parsed(YamlTree& tree) : tree_(tree) {}

  bool take(const YAML::Node& root) {
    if (!count(root, 0)) return false;
    tree_.nodes_.reserve(nodes_);
    tree_.texts_.reserve(bytes_);
    tree_.nodes_.emplace_back();
    fill(root, 0);
    return true;
  }

 private:
  bool count(const YAML::Node& node, int depth) {
    if (++nodes_ > kMostNodes || depth > kMostDepth) return false;
    if (node.IsScalar()) return (bytes_ += node.Scalar().size()) <= kMostBytes;
    if (node.IsSequence())
      return std::all_of(node.begin(), node.end(),
                         [&](const auto& item) { return count(item, depth + 1); });
    if (node.IsMap())
      return std::all_of(node.begin(), node.end(), [&](const auto& field) {
        return count(field.first, depth + 1) && count(field.second, depth + 1);
      });
    return true;
  }

  void fill(const YAML::Node& node, std::size_t at) {
    YamlNode& made = tree_.nodes_[at];
    made.line_ = line_of(node);
    if (node.IsScalar()) {
      made.kind_ = YamlNode::Kind::text;
      const std::size_t begin = tree_.texts_.size();
      tree_.texts_ += node.Scalar();
      made.text_ = std::string_view(tree_.texts_).substr(begin);
    } else if (node.IsSequence()) {
      made.kind_ = YamlNode::Kind::list;
      std::size_t child = add_children(made, node.size());
      for (const auto& item : node) fill(item, child++);
    } else if (node.IsMap()) {
      made.kind_ = YamlNode::Kind::map;
      // Counted as the loop below visits them: a key may stand twice.
      std::size_t child =
          add_children(made, 2 * static_cast<std::size_t>(std::distance(node.begin(), node.end())));
      for (const auto& field : node) {
        fill(field.first, child++);
        fill(field.second, child++);
      }
    }
  }

  std::size_t add_children(YamlNode& parent, std::size_t count) {
    const std::size_t first = tree_.nodes_.size();
    tree_.nodes_.resize(first + count);
    parent.children_ = std::span<const YamlNode>(tree_.nodes_).subspan(first, count);
    return first;
  }

  YamlTree& tree_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

// The nodes, each before its children: kind, line, and a text or the number of children.
class YamlTree::Packed {
 public:
  Packed(YamlTree& tree, std::string_view bytes) : tree_(tree), left_(bytes) {}

  bool take() {
    const auto count = number();
    if (!count || *count == 0 || *count > kMostNodes) return false;
    tree_.nodes_.reserve(*count);
    tree_.nodes_.emplace_back();
    return fill(0, 0) && left_.empty();
  }

 private:
  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  bool fill(std::size_t at, int depth) {
    const auto kind = number();
    const auto line = number();
    const auto size = number();
    if (!kind || *kind > 3 || !line || *line > UINT32_MAX || !size || depth > kMostDepth)
      return false;
    YamlNode& made = tree_.nodes_[at];
    made.kind_ = static_cast<YamlNode::Kind>(*kind);
    made.line_ = static_cast<std::uint32_t>(*line);
    if (made.kind_ == YamlNode::Kind::nothing) return *size == 0;
    if (made.kind_ == YamlNode::Kind::text) {
      if (*size > left_.size()) return false;
      made.text_ = left_.substr(0, *size);
      left_.remove_prefix(*size);
      return true;
    }
    const std::size_t first = tree_.nodes_.size();
    if (*size > tree_.nodes_.capacity() - first) return false;
    if (made.kind_ == YamlNode::Kind::map && *size % 2 != 0) return false;
    tree_.nodes_.resize(first + *size);
    made.children_ = std::span<const YamlNode>(tree_.nodes_).subspan(first, *size);
    for (std::size_t i = 0; i < *size; ++i)
      if (!fill(first + i, depth + 1)) return false;
    return true;
  }

  YamlTree& tree_;
  std::string_view left_;
};

YamlTree::YamlTree(std::string_view text) {
  if (text.starts_with(kPacked)) {
    if (Packed(*this, text.substr(kPacked.size())).take()) return;
    nodes_.clear();
    fault_.what = "the packed form is damaged; build the program again";
    return;
  }
  try {
    if (!Parsed(*this).take(YAML::Load(std::string(text))))
      fault_.what = "the file expands to too much; write fewer entries, or fewer references";
  } catch (const YAML::Exception& error) {
    nodes_.clear();
    fault_ = {error.msg + "; correct the YAML there",
              static_cast<std::size_t>(std::max(error.mark.line, 0)) + 1};
  }
}

std::string YamlTree::pack() const {
  std::string bytes(kPacked);
  add_number(std::max<std::size_t>(nodes_.size(), 1), bytes);
  const auto add = [&](const YamlNode& node, const auto& add_next) -> void {
    add_number(static_cast<std::uint64_t>(node.kind_), bytes);
    add_number(node.line_, bytes);
    add_number(node.is_text() ? node.text_.size() : node.children_.size(), bytes);
    bytes += node.text_;
    for (const YamlNode& child : node.children_) add_next(child, add_next);
  };
  add(root(), add);
  return bytes;
}

}  // namespace faultline
