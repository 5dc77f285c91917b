#include "model/event_weight.h"

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace faultline {
namespace {

namespace describe = boost::describe;

std::size_t bytes_of(const std::string& text) { return text.size(); }

template <class Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
std::size_t bytes_of(Number) {
  return 8;  // with its comma, as it is stored
}

template <class T>
std::size_t bytes_of(const std::optional<T>& value);
template <class T>
std::size_t bytes_of(const std::vector<T>& values);

template <class Fields>
  requires describe::has_describe_members<Fields>::value
std::size_t bytes_of(const Fields& fields) {
  std::size_t bytes = 0;
  boost::mp11::mp_for_each<describe::describe_members<Fields, describe::mod_any_access>>(
      [&](auto member) { bytes += bytes_of(fields.*member.pointer); });
  return bytes;
}

template <class T>
std::size_t bytes_of(const std::optional<T>& value) {
  return value ? bytes_of(*value) : 0;
}

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  if constexpr (std::is_arithmetic_v<T>) return values.size() * bytes_of(T());
  std::size_t bytes = 0;
  for (const T& value : values) bytes += bytes_of(value);
  return bytes;
}

}  // namespace

std::uint64_t weight_of(const Event& event) {
  constexpr std::size_t kUsual = 256;
  const std::size_t told = std::visit([](const auto& fact) { return bytes_of(fact); }, event.fact);
  return 1 + (event.text.size() + told) / kUsual;
}

}  // namespace faultline
