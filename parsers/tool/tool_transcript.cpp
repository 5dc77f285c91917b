#include "parsers/tool/tool_transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "parsers/tool/part_saving.h"
#include "parsers/tool/tool_block.h"
#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_shell.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr int kMostForeignLines = 64;    // in a row; after more the output is over
constexpr std::size_t kMostHosts = 256;  // hosts whose lines are mixed
constexpr std::string_view kDshbakRuler = "----------------";

bool is_ansible_result(std::string_view text) {
  return text.starts_with("CHANGED | rc=") || text.starts_with("SUCCESS | rc=") ||
         text.starts_with("FAILED | rc=");
}

bool begins_block(std::string_view text) {
  return tool_format_beginning_with(text, false) != nullptr ||
         tool_format_beginning_with(text, true) != nullptr || begins_mad_failure(text);
}

// The lines of one host.
class Session {
 public:
  // False: the line belongs to something else.
  bool feed(std::string_view text, const DocumentLine& line,
            std::vector<DocumentReading>& readings) {
    PartWriter parts(memory_, context_, line, readings);
    if (text.empty()) return true;
    if (is_ansible_result(text)) return false;  // its host is not known
    if (read_context(text, parts)) return true;
    if (read_mad_failure(text, last_error_, parts)) return true;
    if (const ToolFormat* format = tool_format_beginning_with(text, false)) {
      enter(format, parts);
      if (format_->feed(text, parts)) return true;
    }
    if (format_ != nullptr && format_->feed(text, parts)) return true;
    if (const ToolFormat* format = tool_format_beginning_with(text, true)) {
      enter(format, parts);
      return format_->feed(text, parts);
    }
    ToolContext headed = context_;
    if (!read_heading(text, headed)) return false;
    leave(parts);
    context_ = std::move(headed);
    return true;
  }

  void finish(std::vector<DocumentReading>& readings) {
    const DocumentLine none;
    PartWriter(memory_, context_, none, readings).close();
  }

  // The lines that follow belong to that host. The rest of its line is not read: a cut line of
  // ansible may look like a prompt.
  void begin_host(std::string_view host, const DocumentLine& line,
                  std::vector<DocumentReading>& readings) {
    host_follows_ = false;
    PartWriter parts(memory_, context_, line, readings);
    stand_on(std::string(host), parts);
  }

  const ToolFormat* format() const { return format_; }
  bool stands_in_folder_of_port() const { return in_folder_of_port_; }

  std::size_t size() const {
    return sizeof *this + size_of(memory_.draft.report) + size_of(memory_.names) +
           size_of(memory_.values) + memory_.section.size() + memory_.draft.line.text.size();
  }

  void save(SavedBytesWriter& saved) const {
    const auto formats = all_tool_formats();
    saved.number(format_ == nullptr ? -1 : format_ - formats.data());
    saved.text(last_error_);
    saved.number(host_follows_ ? 1 : 0);
    for (const std::string* text : {&context_.host, &context_.device, &context_.port,
                                    &context_.netdev, &context_.pci, &context_.peer})
      saved.text(*text);
    save_time(saved, context_.date);
    saved.text(memory_.section);
    save_values(saved, memory_.names);
    save_values(saved, memory_.values);
    saved.number(memory_.draft.open ? 1 : 0);
    save_part(saved, memory_.draft.report);
    memory_.draft.line.save(saved);
    saved.text(memory_.draft.host);
    save_time(saved, memory_.draft.time);
  }

  void restore(SavedBytesReader& saved) {
    const auto formats = all_tool_formats();
    const std::int64_t format = saved.number();
    if (format >= 0 && format < std::ssize(formats))
      format_ = &formats[static_cast<std::size_t>(format)];
    last_error_ = saved.text();
    host_follows_ = saved.number() != 0;
    for (std::string* text : {&context_.host, &context_.device, &context_.port, &context_.netdev,
                              &context_.pci, &context_.peer})
      *text = saved.text();
    context_.date = restored_time(saved);
    memory_.section = saved.text();
    memory_.names = restored_values(saved);
    memory_.values = restored_values(saved);
    memory_.draft.open = saved.number() != 0;
    memory_.draft.report = restored_part(saved);
    memory_.draft.line.restore(saved);
    memory_.draft.host = saved.text();
    memory_.draft.time = restored_time(saved);
  }

  std::uint64_t last_line = 0;

 private:
  static void save_time(SavedBytesWriter& saved, const std::optional<Timestamp>& time) {
    saved.number(time ? 1 : 0);
    saved.number(time ? time->time_since_epoch().count() : 0);
  }

  static std::optional<Timestamp> restored_time(SavedBytesReader& saved) {
    const bool known = saved.number() != 0;
    const std::int64_t micros = saved.number();
    return known ? std::optional(Timestamp{std::chrono::microseconds{micros}}) : std::nullopt;
  }

  // Prompts, dates, headings of hosts.
  bool read_context(std::string_view text, PartWriter& parts) {
    const bool host_expected = std::exchange(host_follows_, false);
    if (const auto prompt = read_prompt(text)) {
      leave(parts);
      apply_command(*prompt, context_);
      in_folder_of_port_ = !prompt->device.empty();
      host_follows_ = asks_for_host_name(*prompt);
      return true;
    }
    if (const auto watch = read_watch(text)) {
      leave(parts);
      apply_command(watch->command, context_);
      if (watch->date) context_.date = watch->date;
      return true;
    }
    if (const auto date = read_date(text)) {
      leave(parts);
      context_.date = date;
      return true;
    }
    // It may also be the underline of a title that has 16 letters.
    if (text == kDshbakRuler && (format_ == nullptr || !format_->feed(text, parts))) {
      leave(parts);
      host_follows_ = !host_expected;
      return true;
    }
    std::string_view host = host_of_heading(text);
    ToolContext ignored;
    if (!host.empty() && read_heading(text, ignored)) host = {};  // it names a device
    if (host_expected && is_host_name(text)) host = text;
    if (host.empty()) return false;
    stand_on(std::string(host), parts);
    return true;
  }

  void stand_on(std::string host, PartWriter& parts) {
    leave(parts);
    const std::optional<Timestamp> date = context_.date;
    context_ = {};
    context_.host = std::move(host);
    context_.date = date;
  }

  void enter(const ToolFormat* format, PartWriter& parts) {
    if (format == format_) return;
    parts.begin_block();
    format_ = format;
  }

  void leave(PartWriter& parts) {
    parts.begin_block();
    format_ = nullptr;
  }

  const ToolFormat* format_ = nullptr;
  BlockMemory memory_;
  ToolContext context_;
  std::string last_error_;          // the last error that libibmad printed
  bool host_follows_ = false;       // the next line is the name of a host
  bool in_folder_of_port_ = false;  // according to the last prompt
};

class Transcript : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    // Ignore a line that may be cut: the last digits of a number may be missing.
    if (line.cut) return started_ ? Line::foreign : Line::after;
    std::string_view text = trimmed(line.text);
    // The line that ansible prints before a host's lines, if the host was already taken off it.
    const bool begins_host = is_ansible_result(text) && !line.host.empty();
    Session& session = session_of(begins_host ? std::string() : speaker_of(line), readings);
    const std::size_t before = session.size();
    session.last_line = line.number;
    bool mine = true;
    if (begins_host)
      session.begin_host(line.host, line, readings);
    else
      mine = session.feed(text, line, readings);
    bytes_ += session.size() - before;
    if (!mine) return ++foreign_ > kMostForeignLines || !started_ ? Line::after : Line::foreign;
    foreign_ = 0;
    started_ |= session.format() != nullptr || session.stands_in_folder_of_port();
    if (session.format() != nullptr) dialect_ = session.format()->name;
    return Line::part;
  }

  void finish(std::vector<DocumentReading>& readings) override {
    for (auto& [speaker, session] : sessions_) session.finish(readings);
  }

  std::string_view dialect() const override { return dialect_; }

  std::size_t size() const override { return sizeof *this + bytes_; }

  void save(SavedBytesWriter& saved) const override {
    saved.text(dialect_);
    saved.number(foreign_);
    saved.number(started_ ? 1 : 0);
    saved.number(static_cast<std::int64_t>(sessions_.size()));
    for (const auto& [speaker, session] : sessions_) {
      saved.text(speaker);
      saved.number(static_cast<std::int64_t>(session.last_line));
      session.save(saved);
    }
  }

  void restore(SavedBytesReader& saved) override {
    const std::string_view dialect = saved.text();
    for (const ToolFormat& format : all_tool_formats())
      if (format.name == dialect) dialect_ = format.name;
    foreign_ = saved.small_number();
    started_ = saved.number() != 0;
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok() && sessions_.size() < kMostHosts; ++i) {
      Session& session = sessions_[std::string(saved.text())];
      session.last_line = static_cast<std::uint64_t>(saved.number());
      session.restore(saved);
      bytes_ += session.size();
    }
  }

 private:
  static std::string speaker_of(const DocumentLine& line) {
    if (line.host.empty() && line.rank < 0) return {};
    return fmt::format("{}/{}", line.host, line.rank);
  }

  Session& session_of(const std::string& speaker, std::vector<DocumentReading>& readings) {
    const auto known = sessions_.find(speaker);
    return known == sessions_.end() ? add(speaker, readings)->second : known->second;
  }

  using Sessions = std::map<std::string, Session, std::less<>>;

  Sessions::iterator add(std::string_view speaker, std::vector<DocumentReading>& readings) {
    if (sessions_.size() >= kMostHosts) {
      const auto oldest = std::ranges::min_element(
          sessions_, {}, [](const auto& entry) { return entry.second.last_line; });
      bytes_ -= oldest->second.size();
      oldest->second.finish(readings);
      sessions_.erase(oldest);
    }
    const auto added = sessions_.try_emplace(std::string(speaker)).first;
    bytes_ += added->second.size();
    return added;
  }

  Sessions sessions_;  // one for each host and rank that the wrapping of lines names
  std::string_view dialect_;
  int foreign_ = 0;
  bool started_ = false;
  std::size_t bytes_ = 0;
};

}  // namespace

bool begins_tool_transcript(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return false;
  if (begins_block(text) || text == kDshbakRuler || is_ansible_result(text) || read_prompt(text) ||
      read_date(text) || read_watch(text))
    return true;
  ToolContext ignored;
  return read_heading(text, ignored) || !host_of_heading(text).empty();
}

std::unique_ptr<Document> make_tool_transcript() { return std::make_unique<Transcript>(); }

}  // namespace faultline
