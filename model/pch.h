// Precompiled for model/ and for most layers above it, and a part of every other pch.h: headers of
// others that are slow to read. None of ours: what ccache kept of another checkout would know them
// by other times, and #pragma once would not hold. No source may rely on it; each includes what it
// uses (the lint build precompiles nothing).
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <charconv>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>
