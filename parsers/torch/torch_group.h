// What the lines of PyTorch's process groups have in common: their prefix, and numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "model/facts/torch.h"

namespace faultline {

// [PG ID 2 PG GUID 3(tp) Rank 3], [PG 0 (default_pg) Rank 7], [Rank 3]: tried in this order.
TorchGroup torch_group_of(std::string_view text);

// "0, 3", "1 2": at most as many ranks as a job may have.
std::vector<int> rank_list(std::string_view text);

// Nothing if the text is not a number or the number does not fit.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A rank. Nothing if the text is not a number, or one that no job has.
std::optional<int> rank_in(std::string_view text);

}  // namespace faultline
