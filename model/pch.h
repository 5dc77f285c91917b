// Precompiled for model/ and for most layers above it, and a part of every other pch.h: headers of
// other projects that are slow to compile, and of ours what nearly every source sees. No source may
// rely on it; each includes what it uses (the lint build precompiles nothing).
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "model/batch.h"
