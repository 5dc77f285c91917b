#include "model/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace faultline {
namespace {

// In the order of ncclDataType_t, which only ever grew at its end.
constexpr std::array<std::string_view, 12> kDatatypes = {
    "int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
    "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};

// ncclRedOp_t, and the one number all user operations share.
constexpr std::array<std::string_view, 6> kOperations = {"sum", "prod", "max",
                                                         "min", "avg",  "user"};

constexpr std::array<std::string_view, 5> kPointToPoint = {"Send", "Recv", "PutSignal", "Signal",
                                                           "WaitSignal"};
constexpr std::array<std::string_view, 3> kReductions = {"AllReduce", "Reduce", "ReduceScatter"};
constexpr std::array<std::string_view, 4> kRooted = {"Broadcast", "Reduce", "Gather", "Scatter"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t N>
std::string_view name_at(const std::array<std::string_view, N>& names, int index) {
  const auto place = static_cast<std::size_t>(index);
  return index >= 0 && place < N ? names[place] : std::string_view();
}

std::string name_or_number(std::string_view name, std::string_view what, int number) {
  return name.empty() ? fmt::format("{} {}", what, number) : std::string(name);
}

}  // namespace

std::string_view datatype_name(int datatype) { return name_at(kDatatypes, datatype); }
std::string_view operation_name(int operation) { return name_at(kOperations, operation); }

bool Signature::point_to_point() const { return contains(kPointToPoint, function); }
bool Signature::reduces() const { return contains(kReductions, function); }

std::string to_text(const Signature& signature) {
  const std::string_view function =
      signature.function.empty() ? std::string_view("collective") : signature.function;
  if (signature.done) return fmt::format("{} done", function);  // such a line says no more
  std::string text = fmt::format(
      "{}({} {}, {}", function, signature.count_is_size ? "size" : "count", signature.count,
      name_or_number(datatype_name(signature.datatype), "datatype", signature.datatype));
  // Calls that do not reduce print operation 0, which is no sum there; likewise root 0.
  if (signature.reduces() || signature.operation != 0) {
    text += ", ";
    text += name_or_number(operation_name(signature.operation), "operation", signature.operation);
  }
  if (signature.point_to_point()) {
    text += fmt::format(", peer {}", signature.root);
  } else if (contains(kRooted, signature.function) || signature.root != 0) {
    text += fmt::format(", root {}", signature.root);
  }
  return text + ')';
}

}  // namespace faultline
