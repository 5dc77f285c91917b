// Facts as JSON, field by field as they are described, so that a new kind of fact needs nothing
// here.
#include <fmt/format.h>

#include <array>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/json.h"

namespace faultline {
namespace {

namespace json = boost::json;
namespace describe = boost::describe;

template <class Fields>
using MembersOf = describe::describe_members<Fields, describe::mod_any_access>;

template <class Number>
  requires std::is_arithmetic_v<Number>
json::value write(Number value) {
  return value;
}
json::value write(const std::string& value) { return json::string(value); }

template <class Enum>
  requires std::is_enum_v<Enum>
json::value write(Enum value) {
  return json::string(describe::enum_to_string(value, ""));
}

template <class T>
json::value write(const std::optional<T>& value) {
  return value ? write(*value) : json::value(nullptr);
}

template <class T>
json::value write(const std::vector<T>& values);

template <class Fields>
  requires describe::has_describe_members<Fields>::value
json::value write(const Fields& fields) {
  json::object object;
  boost::mp11::mp_for_each<MembersOf<Fields>>(
      [&](auto member) { object[member.name] = write(fields.*member.pointer); });
  return object;
}

template <class T>
json::value write(const std::vector<T>& values) {
  json::array array;
  array.reserve(values.size());
  for (const T& value : values) array.push_back(write(value));
  return array;
}

bool read(const json::value& value, bool& target) {
  if (!value.is_bool()) return false;
  target = value.get_bool();
  return true;
}

bool read(const json::value& value, std::string& target) {
  if (!value.is_string()) return false;
  target = value.get_string();
  return true;
}

template <class Integer>
  requires std::is_integral_v<Integer>
bool read(const json::value& value, Integer& target) {
  boost::system::error_code error;
  const Integer number = value.to_number<Integer>(error);  // refuses what does not fit
  if (error || value.is_double()) return false;
  target = number;
  return true;
}

bool read(const json::value& value, double& target) {
  if (!value.is_number()) return false;
  target = value.to_number<double>();
  return true;
}

template <class Enum>
  requires std::is_enum_v<Enum>
bool read(const json::value& value, Enum& target) {
  return value.is_string() &&
         describe::enum_from_string(std::string(value.get_string()).c_str(), target);
}

template <class T>
bool read(const json::value& value, std::optional<T>& target) {
  if (value.is_null()) {
    target.reset();
    return true;
  }
  return read(value, target.emplace());
}

template <class T>
bool read(const json::value& value, std::vector<T>& target);

template <class Fields>
  requires describe::has_describe_members<Fields>::value
bool read(const json::value& value, Fields& target) {
  if (!value.is_object()) return false;
  bool right = true;
  boost::mp11::mp_for_each<MembersOf<Fields>>([&](auto member) {
    const json::value* field = value.get_object().if_contains(member.name);
    if (field != nullptr) right = right && read(*field, target.*member.pointer);
  });
  return right;
}

template <class T>
bool read(const json::value& value, std::vector<T>& target) {
  if (!value.is_array()) return false;
  target.clear();
  for (const json::value& element : value.get_array())
    if (!read(element, target.emplace_back())) return false;
  return true;
}

Error unreadable(std::string_view kind, const std::string& wrong) {
  return {Error::Kind::invalid_input,
          wrong.empty() ? fmt::format("{}: has unknown fields", kind)
                        : fmt::format("{}: \"{}\" has a value of the wrong kind", kind, wrong)};
}

// A field that is absent keeps its default: facts stored before it existed stay readable. A field
// nobody described is an error: it was not written by to_json.
template <class Fields>
Result<Fact> fields_from(const json::object& object) {
  Fields fields;
  std::size_t known = 0;
  std::string wrong;
  boost::mp11::mp_for_each<MembersOf<Fields>>([&](auto member) {
    const json::value* value = object.if_contains(member.name);
    if (value == nullptr) return;
    ++known;
    if (!read(*value, fields.*member.pointer)) wrong = member.name;
  });
  if (!wrong.empty() || known != object.size()) return unreadable(Fields::kKind, wrong);
  return Fact(std::move(fields));
}

// One function for each kind. As one function for all it takes a compiler ten seconds to optimise.
struct Reader {
  std::string_view kind;
  Result<Fact> (*read)(const json::object&);
};
constexpr auto kReaders = []<class... Fields>(std::type_identity<std::variant<Fields...>>) {
  return std::to_array<Reader>({{Fields::kKind, &fields_from<Fields>}...});
}(std::type_identity<FactKinds>());

}  // namespace

std::string fact_to_json(const Fact& fact) {
  return std::visit(
      []<class Fields>(const Fields& fields) {
        // Boost's writer keeps strings byte for byte, UTF-8 or not: what comes back must be equal.
        return json::serialize(write(fields));
      },
      fact);
}

Result<Fact> fact_from_json(std::string_view kind, std::string_view text) {
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  boost::system::error_code error;
  const json::value value =
      json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error || !value.is_object())
    return Error{Error::Kind::invalid_input, fmt::format("{}: not a JSON object", kind)};

  for (const Reader& reader : kReaders)
    if (reader.kind == kind) return reader.read(value.get_object());
  return Error{Error::Kind::invalid_input, fmt::format("{}: unknown fact", kind)};
}

}  // namespace faultline
