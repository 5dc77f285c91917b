#include "simulate/output.h"

#include <stdexcept>
#include <system_error>

namespace faultline::simulation {

void FolderOutput::open(const std::string& name) {
  name_ = (folder_ / name).string();
  const std::filesystem::path within = (folder_ / name).parent_path();
  std::error_code error;
  std::filesystem::create_directories(within, error);
  if (error) throw std::runtime_error(within.string() + " could not be made: " + error.message());
  file_.open(name_, std::ios::binary | std::ios::trunc);
  check();
  ++files_;
}

void FolderOutput::write(std::string_view text) {
  file_.write(text.data(), static_cast<std::streamsize>(text.size()));
  check();
  bytes_ += text.size();
}

void FolderOutput::close() {
  file_.close();
  check();
}

void FolderOutput::check() const {
  if (!file_) throw std::runtime_error(name_ + " could not be written");
}

}  // namespace faultline::simulation
