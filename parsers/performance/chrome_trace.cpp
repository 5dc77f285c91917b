#include "parsers/performance/chrome_trace.h"

#include <algorithm>

namespace faultline {
namespace {

constexpr std::size_t kMostEvent = std::size_t{1} << 20;  // bytes of an event with its arguments
constexpr std::size_t kMostKey = 256;

// The keys with which a trace may begin. Programs may add other keys after them.
bool is_first_key(std::string_view key) {
  constexpr std::string_view kFirst[] = {"schemaVersion",
                                         "traceEvents",
                                         "displayTimeUnit",
                                         "deviceProperties",
                                         "baseTimeNanoseconds",
                                         "traceName",
                                         "distributedInfo",
                                         "record_shapes",
                                         "profile_memory",
                                         "with_stack",
                                         "with_flops",
                                         "with_modules",
                                         "trace_id",
                                         "otherData"};
  return std::ranges::find(kFirst, key) != std::end(kFirst);
}

bool may_be_first_key(std::string_view beginning) {
  constexpr std::string_view kFirst[] = {"schemaVersion\"",
                                         "traceEvents\"",
                                         "displayTimeUnit\"",
                                         "deviceProperties\"",
                                         "baseTimeNanoseconds\"",
                                         "traceName\"",
                                         "distributedInfo\"",
                                         "record_shapes\"",
                                         "profile_memory\"",
                                         "with_stack\"",
                                         "with_flops\"",
                                         "with_modules\"",
                                         "trace_id\"",
                                         "otherData\""};
  return std::ranges::any_of(kFirst,
                             [&](std::string_view key) { return key.starts_with(beginning); });
}

}  // namespace

TraceForm trace_form(std::string_view beginning, bool all) {
  const bool enough = all || beginning.size() >= kTraceFormBytes;
  beginning = beginning.substr(0, kTraceFormBytes);
  const TraceForm unsure = enough ? TraceForm::none : TraceForm::unsure;
  std::size_t at = behind_blanks(beginning, 0);
  if (at >= beginning.size()) return unsure;
  if (beginning[at] != '{') return TraceForm::none;
  for (bool first = true;; first = false) {
    at = behind_blanks(beginning, at + 1);
    if (at >= beginning.size()) return unsure;
    if (beginning[at] != '"') return TraceForm::none;
    const std::size_t end = end_of_json_text(beginning, at + 1);
    const std::string_view key =
        beginning.substr(at + 1, (end == std::string_view::npos ? beginning.size() : end) - at - 1);
    if (key.size() > kMostKey) return TraceForm::none;
    if (end == std::string_view::npos)
      return first && !may_be_first_key(key) ? TraceForm::none : unsure;
    if (first && !is_first_key(key)) return TraceForm::none;
    at = behind_blanks(beginning, end + 1);
    if (at >= beginning.size()) return unsure;
    if (beginning[at] != ':') return TraceForm::none;
    at = behind_blanks(beginning, at + 1);
    if (at >= beginning.size()) return unsure;
    if (key == "traceEvents") return beginning[at] == '[' ? TraceForm::trace : TraceForm::none;
    const auto value = json_value_at(beginning, at);
    if (!value) return unsure;
    at = behind_blanks(beginning, at + value->size());
    if (at >= beginning.size()) return unsure;
    if (beginning[at] != ',') return TraceForm::none;
  }
}

std::size_t ChromeTrace::feed(std::string_view bytes) {
  const std::size_t before = held_.size();
  const bool joined = before > 0;
  if (joined) held_ += bytes;
  const std::string_view all = joined ? std::string_view(held_) : bytes;
  std::size_t at = 0;
  while (at < all.size() && !complete() && !broken()) {
    const State state = state_;
    const std::size_t taken = read(all.substr(at));
    if (taken == 0 && state_ == state) break;
    at += taken;
  }
  if (complete() || broken()) {
    held_.clear();
    return complete() ? at - std::min(at, before) : bytes.size();
  }
  if (joined)
    held_.erase(0, at);
  else
    held_ = all.substr(at);
  return bytes.size();
}

// Returns how many bytes were read to their end; 0: more bytes are needed.
std::size_t ChromeTrace::read(std::string_view bytes) {
  switch (state_) {
    case State::begin: {
      const std::size_t at = behind_blanks(bytes, 0);
      if (at >= bytes.size()) return bytes.size();
      state_ = bytes[at] == '{' ? State::members : State::broken;
      return at + 1;
    }
    case State::members:
      return read_member(bytes);
    case State::value:
      return read_value(bytes);
    case State::events:
      return read_between_events(bytes);
    case State::event:
      return read_event(bytes);
    default:
      return 0;
  }
}

// Reads up to the value of the next member, or to the end of the trace.
std::size_t ChromeTrace::read_member(std::string_view bytes) {
  std::size_t at = behind_blanks(bytes, 0);
  if (at < bytes.size() && bytes[at] == ',') ++at;
  if (at > 0) return at;
  if (bytes.empty()) return 0;
  if (bytes[at] == '}') {
    state_ = State::complete;
    return at + 1;
  }
  if (bytes[at] != '"') {
    state_ = State::broken;
    return at + 1;
  }
  const std::size_t end = end_of_json_text(bytes, at + 1);
  if (end == std::string_view::npos) {
    if (bytes.size() - at > kMostEvent) state_ = State::broken;
    return 0;
  }
  const std::string_view key = bytes.substr(at + 1, end - at - 1);
  at = behind_blanks(bytes, end + 1);
  if (at >= bytes.size()) return 0;
  if (bytes[at] != ':') {
    state_ = State::broken;
    return at + 1;
  }
  at = behind_blanks(bytes, at + 1);
  if (at >= bytes.size()) return 0;
  key_ = key.substr(0, kMostKey);
  looked_at_ = 0;
  too_long_ = false;
  end_ = {};
  if (key == "traceEvents" && bytes[at] == '[') {
    state_ = State::events;
    return at + 1;
  }
  state_ = State::value;
  return at;
}

// Whether the text that begins here ends here, too. Continues where it looked last.
bool ChromeTrace::has_whole_text(std::string_view bytes) {
  std::size_t at = std::max<std::size_t>(looked_at_, 1);
  while (at < bytes.size() && bytes[at] != '"') {
    if (bytes[at] == '\\' && at + 1 == bytes.size()) break;
    at += bytes[at] == '\\' ? 2 : 1;
  }
  looked_at_ = at;
  return at < bytes.size() && bytes[at] == '"';
}

std::size_t ChromeTrace::read_value(std::string_view bytes) {
  const bool nested = too_long_ || bytes.front() == '{' || bytes.front() == '[';
  if (!nested) {
    if (bytes.front() == '"' && !has_whole_text(bytes)) {
      if (bytes.size() > kMostEvent) state_ = State::broken;
      return 0;
    }
    const auto value = json_value_at(bytes, 0);
    if (!value) {
      if (bytes.size() > kMostEvent) state_ = State::broken;
      return 0;
    }
    summary_.member(key_, *value);
    state_ = State::members;
    return value->size();
  }
  looked_at_ += end_.look_at(bytes.substr(looked_at_));
  if (end_.complete()) {
    if (!too_long_) summary_.member(key_, bytes.substr(0, looked_at_));
    state_ = State::members;
    return looked_at_;
  }
  if (bytes.size() <= kTraceFormBytes && !too_long_) return 0;
  too_long_ = true;
  looked_at_ = 0;
  return bytes.size();
}

std::size_t ChromeTrace::read_between_events(std::string_view bytes) {
  std::size_t at = behind_blanks(bytes, 0);
  while (at < bytes.size() && bytes[at] == ',') at = behind_blanks(bytes, at + 1);
  if (at >= bytes.size()) return bytes.size();
  if (bytes[at] == ']') {
    state_ = State::members;
    return at + 1;
  }
  if (bytes[at] != '{') {
    state_ = State::broken;
    return at + 1;
  }
  state_ = State::event;
  looked_at_ = 0;
  too_long_ = false;
  end_ = {};
  return at;
}

std::size_t ChromeTrace::read_event(std::string_view bytes) {
  looked_at_ += end_.look_at(bytes.substr(looked_at_));
  if (end_.complete()) {
    if (!too_long_) summary_.event(bytes.substr(0, looked_at_));
    state_ = State::events;
    return looked_at_;
  }
  if (bytes.size() <= kMostEvent && !too_long_) return 0;
  too_long_ = true;
  looked_at_ = 0;
  return bytes.size();
}

void ChromeTrace::save(SavedBytesWriter& saved) const {
  saved.number(static_cast<std::int64_t>(state_));
  saved.text(held_);
  saved.number(static_cast<std::int64_t>(looked_at_));
  end_.save(saved);
  saved.number(too_long_ ? 1 : 0);
  saved.text(key_);
  summary_.save(saved);
}

void ChromeTrace::restore(SavedBytesReader& saved) {
  state_ = static_cast<State>(
      std::clamp<std::int64_t>(saved.number(), 0, static_cast<std::int64_t>(State::broken)));
  held_ = saved.text();
  looked_at_ = std::min(held_.size(), static_cast<std::size_t>(saved.number()));
  end_.restore(saved);
  too_long_ = saved.number() != 0;
  key_ = saved.text();
  summary_.restore(saved);
}

std::vector<DumpedFact> ChromeTrace::facts() { return summary_.facts(!complete()); }

}  // namespace faultline
