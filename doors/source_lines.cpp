#include "doors/source_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace faultline {
namespace {

// Kubernetes' own form for a line with its time, and syslog's for one with its program. Both are
// read with what other programs put inside.
void add_line(std::string& text, const std::string& stamp, const Destination& destination,
              const std::string& program, std::string_view line) {
  auto out = std::back_inserter(text);
  if (!program.empty())
    fmt::format_to(out, "{} {} {}: {}\n", stamp, destination.host.empty() ? "-" : destination.host,
                   program, line);
  else
    fmt::format_to(out, "{} stdout F {}\n", stamp, line);
}

bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c != ':' && c != 0x7f; });
}

}  // namespace

SourceLines::SourceLines(const LabelNames& names, const DestinationDefaults& defaults)
    : stream_(names, defaults), record_(stream_), empty_(stream_) {}

void SourceLines::begin_stream() {
  stream_ = empty_;
  record_ = empty_;
  has_labels_ = false;
  of_stream_ = nullptr;
}

void SourceLines::stream_label(std::string_view name, std::string_view value) {
  stream_.label(name, value);
  record_.label(name, value);
  of_stream_ = nullptr;
}

void SourceLines::label(std::string_view name, std::string_view value) {
  record_.label(name, value);
  has_labels_ = true;
}

void SourceLines::end_record() {
  if (has_labels_) record_ = stream_;
  has_labels_ = false;
}

SourceLines::Lines* SourceLines::lines_of_next() {
  if (!has_labels_ && of_stream_ != nullptr) return of_stream_;
  Destination destination = record_.destination();
  auto found = sources_.find(destination);
  if (found == sources_.end()) {
    const bool new_job = !jobs_.contains(destination.job);
    if (sources_.size() >= kMostSources || (new_job && jobs_.size() >= kMostJobs)) return nullptr;
    jobs_.insert(destination.job);
    found = sources_.try_emplace(std::move(destination)).first;
  }
  if (!has_labels_) of_stream_ = &found->second;
  return &found->second;
}

void SourceLines::message(std::optional<Timestamp> time, std::string_view text) {
  Lines* lines = lines_of_next();
  if (lines == nullptr) {
    ++too_many_;
  } else {
    const std::size_t before = lines->text.size();
    const std::string& program = record_.program();
    const Destination destination = program.empty() ? Destination{} : record_.destination();
    const std::string stamp = time ? to_rfc3339(*time) : std::string();
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    for (bool more = true; more;) {
      const std::size_t end = text.find('\n');
      more = end != std::string_view::npos;
      const std::string_view line = text.substr(0, end);
      if (more) text.remove_prefix(end + 1);
      if (time)
        add_line(lines->text, stamp, destination, is_word(program) ? program : std::string(), line);
      else
        lines->text.append(line).push_back('\n');
    }
    ++lines->messages;
    ++messages_;
    bytes_ += lines->text.size() - before;
  }
  end_record();
}

void SourceLines::object(std::string_view json) {
  Lines* lines = lines_of_next();
  if (lines == nullptr) {
    ++too_many_;
  } else {
    const std::size_t before = lines->text.size();
    lines->text += json;
    // No text in JSON has a line break, so one stands where a blank may stand.
    std::replace_if(
        lines->text.begin() + static_cast<std::ptrdiff_t>(before), lines->text.end(),
        [](char c) { return c == '\n' || c == '\r'; }, ' ');
    lines->text += '\n';
    ++lines->messages;
    ++messages_;
    bytes_ += lines->text.size() - before;
  }
  end_record();
}

}  // namespace faultline
