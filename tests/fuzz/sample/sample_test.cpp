// Every fuzz target on a thousand inputs that are made from golden inputs, the same in each run:
// a small part of ./dev fuzz in every test run. FAULTLINE_FUZZ_RUNS sets a larger number,
// FAULTLINE_FUZZ_INPUT runs one file alone, with --gtest_filter=*/reader_fuzz for example.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_targets.h"
#include "simulate/chance.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using simulation::Chance;
using Texts = std::vector<std::string>;

constexpr std::size_t kMostBytes = 8192;  // as ./dev fuzz has it
constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGFPE, SIGBUS};

std::uint64_t runs_of_each() {
  constexpr std::uint64_t kUsual = 1000;
  const char* asked = std::getenv("FAULTLINE_FUZZ_RUNS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : kUsual;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

Texts texts_below(const fs::path& folder, std::string_view prefix) {
  constexpr std::uintmax_t kLargest = 256 << 10;
  std::vector<fs::path> paths;
  if (fs::exists(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.file_size() < kLargest &&
          entry.path().filename().string().starts_with(prefix))
        paths.push_back(entry.path());
  std::ranges::sort(paths);
  Texts texts;
  std::ranges::transform(paths, std::back_inserter(texts), text_of);
  return texts;
}

std::size_t below(Chance& chance, std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(chance.next() % limit);
}

const std::string& any_of(const Texts& texts, Chance& chance) {
  return texts[below(chance, texts.size())];
}

std::string window_of(const std::string& text, Chance& chance) {
  if (text.size() <= kMostBytes) return text;
  return text.substr(below(chance, text.size() - kMostBytes), kMostBytes);
}

void change(std::string& text, const std::string& other, Chance& chance) {
  using namespace std::string_view_literals;
  static constexpr std::string_view kTelling[] = {
      "\n", "\r\n", "\0"sv, "\xff", "\"", "{", "]", ",", "99999999999999999999", "-1", "\x1b[0m"};
  const std::size_t at = below(chance, text.size() + 1);
  const std::size_t some = below(chance, std::min<std::size_t>(text.size() - at, 64) + 1);
  switch (below(chance, 7)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(chance, 8)));
      break;
    case 1:
      text.erase(at, some);
      break;
    case 2:
      text.insert(at, text.substr(at, some));
      break;
    case 3:
      text.insert(at, kTelling[below(chance, std::size(kTelling))]);
      break;
    case 4:
      text.insert(at, other.substr(below(chance, other.size() + 1), below(chance, 512)));
      break;
    case 5:
      text.resize(at);
      break;
    default:
      text.erase(0, at);
  }
}

// One in eight is an unchanged part of a golden input, apart from the last two bytes.
std::string made_of(const Texts& seeds, Chance& chance) {
  std::string text = window_of(any_of(seeds, chance), chance);
  for (std::size_t changes = below(chance, 8); changes > 0; --changes)
    change(text, any_of(seeds, chance), chance);
  // Many targets read from the last two bytes how the input is cut.
  text.resize(std::min(text.size(), kMostBytes - 2));
  for (int i = 0; i < 2; ++i) text += static_cast<char>(below(chance, 256));
  return text;
}

// The running input, for the handler of its signal.
struct {
  std::string path;
  std::string_view input;
} running;

// A broken promise ends the program. Writes its input to a file before that.
void keep_input(int signal) {
  const int file = ::creat(running.path.c_str(), 0644);
  for (const std::string_view part : {"the input is kept in ", running.path.c_str(), "\n"})
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  const bool kept = ::write(file, running.input.data(), running.input.size()) >= 0;
  std::signal(signal, SIG_DFL);
  if (kept) ::close(file);
  std::raise(signal);
}

void run(const FuzzTarget& target, std::string_view input) {
  running.input = input;
  target.run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class FuzzSample : public testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzSample, KeepsItsPromises) {
  const FuzzTarget& target = GetParam();
  if (const char* path = std::getenv("FAULTLINE_FUZZ_INPUT")) {
    run(target, text_of(path));
    return;
  }
  const Texts golden = texts_below(TESTS_DIR, "input");
  ASSERT_FALSE(golden.empty());
  const Texts own = texts_below(fs::path(TESTS_DIR) / "fuzz" / "seeds" / target.name, "");
  fs::create_directories(FUZZ_CRASHES);
  running.path = fmt::format("{}/{}-sample", FUZZ_CRASHES, target.name);
  for (const int signal : kSignals) std::signal(signal, keep_input);
  for (std::uint64_t number = 0; number < runs_of_each(); ++number) {
    Chance chance(number);
    const std::string input = made_of(!own.empty() && number % 2 == 0 ? own : golden, chance);
    run(target, input);
  }
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, FuzzSample, testing::ValuesIn(kFuzzTargets),
                         [](const auto& target) { return target.param.name; });

}  // namespace
}  // namespace faultline
