#include "doors/source_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace faultline {
namespace {

// A line of the kernel as syslog writes it, any other in Kubernetes' form: behind the name of a
// program, most of what tools print would not be read.
void add_line(std::string& text, const std::string& stamp, const std::string* kernel_of,
              std::string_view line) {
  auto out = std::back_inserter(text);
  if (kernel_of != nullptr)
    fmt::format_to(out, "{} {} kernel: {}\n", stamp, kernel_of->empty() ? "-" : *kernel_of, line);
  else
    fmt::format_to(out, "{} stdout F {}\n", stamp, line);
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
    const auto number = static_cast<std::uint32_t>(sources_.size());
    found = sources_.try_emplace(std::move(destination)).first;
    found->second.number = number;
  }
  if (!has_labels_) of_stream_ = &found->second;
  return &found->second;
}

SourceLines::Lines* SourceLines::begin_message() {
  Lines* lines = too_large() ? nullptr : lines_of_next();
  source_of_message_.push_back(lines != nullptr ? lines->number : kNoSource);
  if (lines == nullptr) {
    ++too_many_;
  } else {
    ++lines->messages;
    ++messages_;
  }
  return lines;
}

void SourceLines::message(std::optional<Timestamp> time, std::string_view text) {
  add_message(time ? to_rfc3339(*time) : std::string(), text);
}

// Readers take a stamp without a zone for what it is: one that may be hours off.
void SourceLines::message_at_local_time(Timestamp time, std::string_view text) {
  std::string stamp = to_rfc3339(time);
  stamp.pop_back();  // the Z
  add_message(stamp, text);
}

// `stamp`: empty if the message has none.
void SourceLines::add_message(const std::string& stamp, std::string_view text) {
  if (Lines* lines = begin_message()) {
    const std::size_t before = lines->text.size();
    std::optional<std::string> kernel_of;
    if (record_.program() == "kernel") kernel_of = record_.destination().host;
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    for (bool more = true; more && lines->text.size() - before <= most_bytes_;) {
      const std::size_t end = text.find('\n');
      more = end != std::string_view::npos;
      const std::string_view line = text.substr(0, end);
      if (more) text.remove_prefix(end + 1);
      if (!stamp.empty())
        add_line(lines->text, stamp, kernel_of ? &*kernel_of : nullptr, line);
      else
        lines->text.append(line).push_back('\n');
    }
    bytes_ += lines->text.size() - before;
  }
  end_record();
}

void SourceLines::object(std::string_view json) {
  if (Lines* lines = begin_message()) {
    const std::size_t before = lines->text.size();
    lines->text += json;
    // No text in JSON has a line break, so one stands where a blank may stand.
    std::replace_if(
        lines->text.begin() + static_cast<std::ptrdiff_t>(before), lines->text.end(),
        [](char c) { return c == '\n' || c == '\r'; }, ' ');
    lines->text += '\n';
    bytes_ += lines->text.size() - before;
  }
  end_record();
}

}  // namespace faultline
