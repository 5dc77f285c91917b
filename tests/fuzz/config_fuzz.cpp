// Any text as the configuration of a server: it is applied, or refused in one line that names the
// file. The resulting settings can be written as a configuration again.
#include "app/config_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <stdexcept>

#include "app/alert_options.h"
#include "app/serve_options.h"
#include "oracle.h"

namespace {

using namespace faultline;

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

bool is_one_line(const std::runtime_error& refusal) {
  return !has_control_characters(refusal.what(), false);
}

// The tables name files with secrets, which are read. Reading a device may never end.
bool names_devices(std::string_view text) {
  return text.find("/dev") != text.npos || text.find("/proc") != text.npos;
}

// What is done with the tables when a server starts.
void read_tables(const ServeOptions& options) {
  try {
    for (const Receiver& receiver : receivers_of(options.alerts, options.file.tables))
      require(!receiver.name.empty(), "a receiver has a name");
  } catch (const std::runtime_error& refusal) {
    require(is_one_line(refusal), "a refusal of a receiver is one line");
  }
  try {
    for (const KeptJobs& kept : retention_of(options).of_some)
      require(!kept.jobs.empty() && (kept.age || kept.lines), "says what is kept how long");
  } catch (const std::runtime_error& refusal) {
    require(is_one_line(refusal), "a refusal of what is kept is one line");
  }
}

// The settings in force; nothing if the text was refused.
std::optional<std::string> applied(std::string_view text) {
  const MemoryFile file(text);
  ServeOptions options;
  CLI::App command;
  try {
    (void)read_toml(file.path());  // most inputs end here, and making options takes long
    add_serve_options(command, options);
    options.file = apply_config_file(command, file.path());
  } catch (const std::runtime_error& refusal) {
    require(std::string_view(refusal.what()).starts_with(file.path() + ": "),
            "a refusal names the file");
    require(is_one_line(refusal), "a refusal is one line");
    return std::nullopt;
  }
  for (const ConfigTable& table : options.file.tables)
    require(table.values.size() <= text.size(), "keys are written");
  if (!names_devices(text)) read_tables(options);
  return config_of(command, options.file.tables);
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
