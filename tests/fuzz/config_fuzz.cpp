// Any text as a configuration: it is applied, or refused in one line that names the file. The
// resulting settings can be written as a configuration again.
#include "app/config_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <stdexcept>

#include "oracle.h"

namespace {

using namespace faultline;

// Some flags of each kind that commands have.
struct Settings {
  std::string listen = "127.0.0.1:8686";
  std::uint64_t most = 7;
  double share = 0.5;
  bool quiet = false;
  std::vector<std::string> tokens;
};

void add_flags(CLI::App& command, Settings& settings) {
  command.add_option("--listen", settings.listen)->capture_default_str();
  command.add_option("--most", settings.most)
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--share", settings.share)->type_name("N")->capture_default_str();
  command.add_flag("--quiet", settings.quiet);
  command.add_option("--token", settings.tokens);
}

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : descriptor_(memfd_create("config.toml", 0)) {
    require(descriptor_ >= 0 &&
                write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
            "there is room for an input");
    lseek(descriptor_, 0, SEEK_SET);
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// The settings in force; nothing if the text was refused.
std::optional<std::string> applied(std::string_view text) {
  const MemoryFile file(text);
  Settings settings;
  CLI::App command;
  add_flags(command, settings);
  try {
    const ConfigTables tables = apply_config_file(command, file.path()).tables;
    for (const ConfigTable& table : tables)
      require(table.values.size() <= text.size(), "keys are written");
  } catch (const std::runtime_error& refusal) {
    const std::string_view why = refusal.what();
    require(why.starts_with(file.path() + ": "), "a refusal names the file");
    require(!has_control_characters(why, false), "a refusal is one line");
    return std::nullopt;
  }
  return config_of(command);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  const auto in_force = applied(text);
  if (!in_force) return 0;
  const auto again = applied(*in_force);
  require(again.has_value(), "what is in force can be written as a configuration");
  return 0;
}
