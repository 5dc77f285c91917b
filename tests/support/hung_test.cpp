// Names a test that does not end. ctest would wait longer for its program, and could name only
// that.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace faultline {
namespace {

std::array<char, 512> message{};
std::size_t message_size = 0;

void give_up(int) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message_size);
  _exit(EXIT_FAILURE);
}

class HungTest : public testing::EmptyTestEventListener {
 public:
  explicit HungTest(unsigned seconds) : seconds_(seconds) { std::signal(SIGALRM, give_up); }

  void OnTestStart(const testing::TestInfo& test) override {
    const std::string text = std::string("\n[  HUNG    ] ") + test.test_suite_name() + "." +
                             test.name() + " did not end in " + std::to_string(seconds_) + " s\n";
    message_size = text.copy(message.data(), message.size());
    alarm(seconds_);
  }
  void OnTestEnd(const testing::TestInfo&) override { alarm(0); }

 private:
  const unsigned seconds_;
};

[[maybe_unused]] const bool is_watched = [] {
  if (const char* seconds = std::getenv("FAULTLINE_TEST_SECONDS"))
    testing::UnitTest::GetInstance()->listeners().Append(
        new HungTest(static_cast<unsigned>(std::atoi(seconds))));
  return true;
}();

}  // namespace
}  // namespace faultline
