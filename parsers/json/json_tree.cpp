#include "parsers/json/json_tree.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>

#include "parsers/json/json_text.h"

namespace faultline {
namespace {

namespace ondemand = simdjson::ondemand;
using Index = ValueTree::Index;

class JsonTreeReader {
 public:
  explicit JsonTreeReader(ValueTree& tree) : tree_(tree) {}

  // If it returns kNothing, `trouble` says why.
  template <class Json>
  Index read(Json&& json, std::size_t depth) {
    ondemand::json_type type{};
    if (depth > JsonExtent::kMaxDepth) return fail("it is nested too deeply");
    if (json.type().get(type) != simdjson::SUCCESS) return fail("it is not valid JSON");
    switch (type) {
      case ondemand::json_type::object: {
        ondemand::object object;
        if (json.get_object().get(object) != simdjson::SUCCESS) return fail("it is not valid JSON");
        return read_object(object, depth);
      }
      case ondemand::json_type::array: {
        ondemand::array array;
        if (json.get_array().get(array) != simdjson::SUCCESS) return fail("it is not valid JSON");
        return read_array(array, depth);
      }
      case ondemand::json_type::string: {
        std::string_view text;
        if (json.get_string().get(text) != simdjson::SUCCESS)
          return fail("a string is not valid JSON");
        return kept(tree_.add_text_copy(text));
      }
      case ondemand::json_type::number:
        return read_number(json);
      case ondemand::json_type::boolean: {
        bool value = false;
        if (json.get_bool().get(value) != simdjson::SUCCESS) return fail("it is not valid JSON");
        return kept(tree_.add_boolean(value));
      }
      default: {
        bool null = false;
        if (json.is_null().get(null) != simdjson::SUCCESS || !null)
          return fail("it is not valid JSON");
        return kept(tree_.add(ValueTree::Kind::none));
      }
    }
  }

  std::string_view trouble;

 private:
  Index fail(std::string_view why) {
    if (trouble.empty()) trouble = why;
    return ValueTree::kNothing;
  }

  Index kept(Index index) {
    return index == ValueTree::kNothing ? fail("more values than a dump has") : index;
  }

  bool append(Index container, Index element) {
    if (element == ValueTree::kNothing) return false;
    if (tree_.append(container, element)) return true;
    fail("more elements than a dump has");
    return false;
  }

  template <class Json>
  Index read_number(Json&& json) {
    std::int64_t whole = 0;
    if (json.get_int64().get(whole) == simdjson::SUCCESS) return kept(tree_.add_integer(whole));
    double real = 0;
    if (json.get_double().get(real) != simdjson::SUCCESS) return fail("a number is not valid JSON");
    return kept(tree_.add_real(real));
  }

  Index read_object(ondemand::object& object, std::size_t depth) {
    const Index dictionary = kept(tree_.add(ValueTree::Kind::dictionary));
    if (dictionary == ValueTree::kNothing) return dictionary;
    for (auto field : object) {
      std::string_view key;
      ondemand::value value;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) return fail("it is not valid JSON");
      if (!append(dictionary, kept(tree_.add_text_copy(key)))) return ValueTree::kNothing;
      if (field.value().get(value) != simdjson::SUCCESS) return fail("it is not valid JSON");
      if (!append(dictionary, read(value, depth + 1))) return ValueTree::kNothing;
    }
    return dictionary;
  }

  Index read_array(ondemand::array& array, std::size_t depth) {
    const Index list = kept(tree_.add(ValueTree::Kind::list));
    if (list == ValueTree::kNothing) return list;
    for (auto element : array) {
      ondemand::value value;
      if (element.get(value) != simdjson::SUCCESS) return fail("it is not valid JSON");
      if (!append(list, read(value, depth + 1))) return ValueTree::kNothing;
    }
    return list;
  }

  ValueTree& tree_;
};

}  // namespace

void JsonExtent::look_at(std::string_view bytes) {
  for (; at_ < bytes.size() && !complete_ && !hopeless_; ++at_) {
    const char c = bytes[at_];
    if (in_text_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_text_ = false;
    } else if (c == '"') {
      in_text_ = true;
    } else if (c == '{' || c == '[') {
      open_ += c;
      hopeless_ = open_.size() > kMaxDepth;
    } else if (c == '}' || c == ']') {
      hopeless_ = open_.empty() || open_.back() != (c == '}' ? '{' : '[');
      if (hopeless_) break;
      open_.pop_back();
      complete_ = open_.empty();
      if (c == '}' && (open_ == "{[" || open_ == "[")) {
        whole_until_ = at_ + 1;
        open_there_ = open_;
      }
    }
  }
}

std::string JsonExtent::mended(std::string_view bytes) const {
  if (whole_until_ == 0) return {};
  std::string text(bytes.substr(0, whole_until_));
  for (auto bracket = open_there_.rbegin(); bracket != open_there_.rend(); ++bracket)
    text += *bracket == '{' ? '}' : ']';
  return text;
}

JsonTree read_json_tree(std::string_view text) {
  JsonTree read;
  JsonText json;
  ondemand::document document;
  if (!json.open(text, document)) {
    read.reason = "it is not valid JSON";
    return read;
  }
  JsonTreeReader reader(read.tree);
  const Index root = reader.read(document, 0);
  if (root == ValueTree::kNothing) {
    read.reason = reader.trouble;
    read.tree = ValueTree();
    return read;
  }
  read.tree.set_root(root);
  return read;
}

}  // namespace faultline
