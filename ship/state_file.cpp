#include "ship/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "logging/log.h"
#include "ship/escaped_path.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr int kForm = 1;

json::array json_of(const BytesMark& mark) { return {mark.bytes, mark.digest}; }

json::object json_of(const PartMark& part) {
  return {{"device", part.id.device},  {"inode", part.id.inode}, {"begin", part.begin},
          {"hole", part.hole},         {"read", part.read},      {"head", json_of(part.head)},
          {"tail", json_of(part.tail)}};
}

json::object json_of(const ReaderState& reader) {
  json::array parts;
  for (const PartMark& part : reader.parts) parts.push_back(json_of(part));
  return {{"path", escaped_path(reader.path)}, {"job", reader.target.job},
          {"host", reader.target.host},        {"source", reader.target.source},
          {"rank", reader.target.rank},        {"acknowledged", reader.acknowledged},
          {"looked_at", reader.looked_at},     {"parts", std::move(parts)}};
}

std::uint64_t number_in(const json::object& object, std::string_view key) {
  return object.at(key).to_number<std::uint64_t>();
}

std::string text_in(const json::object& object, std::string_view key) {
  return std::string(object.at(key).as_string());
}

BytesMark bytes_mark_from(const json::value& value) {
  const json::array& pair = value.as_array();
  return {pair.at(0).to_number<std::size_t>(), pair.at(1).to_number<std::uint64_t>()};
}

PartMark part_from(const json::object& object) {
  return {.id = {number_in(object, "device"), number_in(object, "inode")},
          .begin = number_in(object, "begin"),
          .hole = number_in(object, "hole"),
          .read = number_in(object, "read"),
          .head = bytes_mark_from(object.at("head")),
          .tail = bytes_mark_from(object.at("tail"))};
}

ReaderState reader_from(const json::object& object) {
  ReaderState reader{.path = path_from(text_in(object, "path")),
                     .target = {.job = text_in(object, "job"),
                                .host = text_in(object, "host"),
                                .source = text_in(object, "source"),
                                .rank = object.at("rank").to_number<int>()},
                     .acknowledged = number_in(object, "acknowledged"),
                     .looked_at = object.at("looked_at").to_number<double>(),
                     .parts = {}};
  for (const json::value& part : object.at("parts").as_array())
    reader.parts.push_back(part_from(part.as_object()));
  return reader;
}

fs::path state_file(const fs::path& folder) { return folder / "state.json"; }

// Writes the text and brings it to the disk.
bool write_through(const fs::path& path, const std::string& text) {
  const OpenDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  std::string_view rest = text;
  while (file.ok() && !rest.empty()) {
    const ssize_t count = write(file.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return file.ok() && fdatasync(file.get()) == 0;
}

}  // namespace

Result<OpenDescriptor> lock_state_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  OpenDescriptor lock(
      open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!lock.ok())
    return Error{Error::Kind::invalid_input,
                 fmt::format("cannot write to {}: {}; choose another folder with --state",
                             folder.string(), std::generic_category().message(errno))};
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{Error::Kind::conflict,
                 fmt::format("another faultline uses {}; give this one a folder of its own "
                             "with --state",
                             folder.string())};
  return lock;
}

std::vector<ReaderState> read_state(const fs::path& folder) {
  std::ifstream file(state_file(folder), std::ios::binary);
  if (!file) return {};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    const json::object state = json::parse(text).as_object();
    if (state.at("form").to_number<int>() != kForm) throw std::runtime_error("another form");
    std::vector<ReaderState> readers;
    for (const json::value& reader : state.at("logs").as_array())
      readers.push_back(reader_from(reader.as_object()));
    return readers;
  } catch (const std::exception&) {
    say(LogLevel::error, "state",
        fmt::format("{} is damaged, so logs are read from their beginnings",
                    state_file(folder).string()));
    return {};
  }
}

bool replace_file(const fs::path& path, const std::string& text) {
  fs::path next = path;
  next += ".new";
  std::error_code error;
  if (!write_through(next, text)) return false;
  fs::rename(next, path, error);
  return !error;
}

bool write_state(const fs::path& folder, const std::vector<ReaderState>& readers) {
  json::array logs;
  for (const ReaderState& reader : readers) logs.push_back(json_of(reader));
  const json::object state{{"form", kForm}, {"logs", std::move(logs)}};
  return replace_file(state_file(folder), json::serialize(state) + "\n");
}

}  // namespace faultline
