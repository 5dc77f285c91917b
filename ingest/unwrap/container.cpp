#include "ingest/unwrap/container.h"

#include <algorithm>
#include <array>

#include "ingest/unwrap/escapes.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {

namespace {

constexpr std::string_view kStdout = "stdout";
constexpr std::string_view kStderr = "stderr";

struct DockerRecord {
  std::string_view log;
  std::string_view stream;
  std::string_view time;
  bool has_log = false;
  bool enriched = false;  // a log shipper has added to it
};

bool read_docker_record(JsonText& json, std::string_view text, DockerRecord& record) {
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (!json.open(text, document) || document.get_object().get(object)) return false;
  for (auto field : object) {
    std::string_view key;
    if (field.unescaped_key().get(key)) return false;
    std::string_view* string = key == "log"      ? &record.log
                               : key == "stream" ? &record.stream
                               : key == "time"   ? &record.time
                                                 : nullptr;
    if (string == nullptr) {
      if (key != "attrs") record.enriched = true;
      continue;
    }
    if (field.value().get_string().get(*string)) return false;
    if (key == "log") record.has_log = true;
  }
  return record.has_log && at_end(document);
}

bool begins_with_log_key(std::string_view text) {
  return take(text, '{') && (take_blanks(text), take(text, "\"log\""));
}

// Whether the word after a stamp can be a stream's name: cheaper than reading the stamp.
bool names_a_stream(std::string_view text) {
  constexpr std::size_t kShortestStamp = 19;
  const std::size_t blank = text.find(' ', kShortestStamp);
  return blank != std::string_view::npos && text.substr(blank + 1).starts_with("std");
}

}  // namespace

Step peel_cri(Peeled& line, Pieces& pieces, TextPool& pool) {
  std::string_view rest = line.text;
  if (!names_a_stream(rest)) return Step::not_mine;
  const auto stamp = take_iso_stamp(rest);
  if (!stamp || !take(rest, ' ')) return Step::not_mine;
  const bool to_stdout = take(rest, kStdout);
  if ((!to_stdout && !take(rest, kStderr)) || !take(rest, ' ')) return Step::not_mine;
  // More tags may follow the first one, behind ':'.
  std::string_view tags = take_word(rest);
  const bool partial = take(tags, 'P');
  if ((!partial && !take(tags, 'F')) || (!tags.empty() && tags.front() != ':'))
    return Step::not_mine;
  if (!rest.empty()) take(rest, ' ');
  line.stamped(stamp->time);
  line.text = rest;
  return pieces.join(to_stdout ? Pieces::kCriStdout : Pieces::kCriStderr, !partial, line, pool);
}

Step peel_docker_json(Peeled& line, JsonText& json, Pieces& pieces, TextPool& pool) {
  DockerRecord record;
  if (!begins_with_log_key(line.text) || !read_docker_record(json, line.text, record))
    return Step::not_mine;
  if (const auto stamp = take_iso_stamp(record.time)) line.stamped(stamp->time);
  const bool last = record.log.ends_with('\n');
  if (last) record.log.remove_suffix(1);
  line.text = pool.copy(record.log);
  // Shippers that rewrite the record often trim the line break, so its absence there means nothing.
  const bool to_stdout = record.stream == kStdout;
  if (record.enriched || (!to_stdout && record.stream != kStderr)) {
    line.text = without_control_bytes(line.text, pool);
    return Step::peeled;
  }
  return pieces.join(to_stdout ? Pieces::kDockerStdout : Pieces::kDockerStderr, last, line, pool);
}

bool peel_cloud_severity(Peeled& line) {
  constexpr auto kSeverities =
      std::to_array<std::string_view>({"DEFAULT ", "DEBUG ", "INFO ", "NOTICE ", "WARNING ",
                                       "ERROR ", "CRITICAL ", "ALERT ", "EMERGENCY "});
  constexpr auto kShown =
      std::to_array<std::string_view>({"resource.", "labels.", "jsonPayload.", "\"labels."});
  constexpr std::size_t kMostShown = 160;  // bytes of a field
  std::string_view rest = line.text;
  if (std::ranges::none_of(kSeverities, [&](std::string_view word) { return take(rest, word); }))
    return false;
  const auto stamp = take_iso_stamp(rest);
  if (!stamp || stamp->time.zone_assumed || (!rest.empty() && !take(rest, ' '))) return false;
  while (rest.starts_with('[')) {
    const std::string_view inside = rest.substr(1);
    if (std::ranges::none_of(kShown,
                             [&](std::string_view name) { return inside.starts_with(name); }))
      break;
    const std::size_t end = inside.substr(0, kMostShown).find(']');
    if (end == std::string_view::npos) break;
    rest = inside.substr(end + 1);
    take_blanks(rest);
  }
  line.stamped(stamp->time);
  line.text = rest;
  return true;
}

}  // namespace faultline
