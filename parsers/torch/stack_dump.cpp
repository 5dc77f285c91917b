#include "parsers/torch/stack_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"

namespace faultline {

namespace {

using tool_text::trimmed;

constexpr std::size_t kMostFrames = 16;
constexpr std::size_t kMostFrameBytes = 256;
constexpr int kMostForeign = 16;

constexpr std::string_view kMainThread = "MainThread";
constexpr std::size_t kMostOfGroup = 256;

struct Head {
  std::string tool;
  std::int64_t pid = 0;
  std::string thread;
  bool gil = false;
};

// PyTorch's debug server prints this before the stacks of each rank:
// === Rank 3: http://node-1:41021/handler/dump_traceback? ===
bool read_rank(std::string_view text, int& rank) {
  static const Pattern kRank(R"(^=== Rank (\d{1,7}): \S+ ===$)");
  std::string_view digits;
  if (!kRank.find(text, &digits)) return false;
  rank = rank_in(digits).value_or(-1);
  return true;
}

// The debug server prints this if a rank gave no stacks.
bool is_refusal(std::string_view text) {
  static const Pattern kError(R"(^Error: \d{3}\b)");
  return kError.find(text);
}

// Process 21737: /usr/bin/python3 train.py
bool read_process(std::string_view text, std::int64_t& pid) {
  static const Pattern kProcess(R"(^Process (\d+): \S)");
  std::string_view digits;
  if (!kProcess.find(text, &digits)) return false;
  pid = number_in<std::int64_t>(digits).value_or(0);
  return true;
}

bool read_head(std::string_view text, Head& head) {
  static const Pattern kPySpy(
      R"re(^Thread (\d+|0x[0-9A-Fa-f]+) \(((?:idle|active)[^)]*)\)(?:: "([^"]*)")?)re");
  static const Pattern kFaultHandler(
      R"(^(Current thread|Thread) (0x[0-9a-f]+)(?: \[([^\]]*)\])? \(most recent call first\):)");
  static const Pattern kGdb(
      R"re(^Thread \d+ \((?:Thread 0x[0-9a-f]+ \()?LWP (\d+)\)(?: "([^"]*)")?\)?:)re");
  std::string_view number;
  std::string_view name;
  std::string_view current;
  std::string_view state;
  if (kPySpy.find(text, &number, &state, &name)) {
    head.tool = "py-spy";
    head.thread = name;
    head.gil = state.find("gil") != std::string_view::npos;
    // The id of the main thread is that of its process.
    if (name == kMainThread) head.pid = number_in<std::int64_t>(number).value_or(0);
  } else if (kFaultHandler.find(text, &current, &number, &name)) {
    head.tool = "faulthandler";
    head.thread = current == "Current thread" ? std::string_view("current") : name;
  } else if (kGdb.find(text, &number, &name)) {
    head.tool = "gdb";
    head.pid = number_in<std::int64_t>(number).value_or(0);
    head.thread = name;
  } else {
    return false;
  }
  if (head.thread.empty()) head.thread = number;
  head.thread.resize(std::min(head.thread.size(), kMostFrameBytes));
  return true;
}

// A frame of any of the tools; empty: the line is not a frame.
std::string_view read_frame(std::string_view text) {
  static const Pattern kPySpy(R"(^[^\s(][^(]* \([^()=,]+(?::\d+)?\)$)");
  static const Pattern kFaultHandler(R"re(^File "[^"]*", line \d+ in \S)re");
  static const Pattern kGdb(R"(^#\d+ +(?:0x[0-9a-f]+ in )?(\S.*)$)");
  std::string_view frame;
  if (kGdb.find(text, &frame)) return frame;
  return kFaultHandler.find(text) || kPySpy.find(text) ? text : std::string_view();
}

// #0  0x00007f in poll () from /lib/libc.so.6
bool begins_gdb_frames(std::string_view text) {
  static const Pattern kFirst(R"(^#0 +(?:0x[0-9a-f]+ in \S|\S.* \(.*\) (?:from|at) \S))");
  return text.starts_with("#0 ") && kFirst.find(text);
}

// The frame that called abort(); empty: the thread is not in abort(). A thread in abort() does not
// wait: it shows how its process ended.
std::string_view aborting_in(const std::vector<std::string>& frames) {
  const auto abort = std::ranges::find_if(frames, [](const std::string& frame) {
    return frame.starts_with("__GI_abort ") || frame.starts_with("abort ");
  });
  return abort == frames.end() || abort + 1 == frames.end() ? std::string_view()
                                                            : std::string_view(*(abort + 1));
}

class StackDump : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = trimmed(line.text);
    if (int rank = -1; read_rank(text, rank)) {
      give(readings);
      rank_ = rank;
      pid_ = 0;
      foreign_ = 0;
      return Line::part;
    }
    if (rank_ >= 0 && is_refusal(text)) {
      give(readings);
      top_ = {.tool = "debug-server", .thread = {}, .frames = {std::string(text)}, .rank = rank_};
      head_.keep(line);
      open_ = true;
      return Line::part;
    }
    if (std::int64_t pid = 0; read_process(text, pid)) {
      give(readings);
      pid_ = pid;
      foreign_ = 0;
      return Line::part;
    }
    if (Head head; read_head(text, head)) {
      if (!is_of_group(head)) give(readings);
      top_ = {.tool = head.tool,
              .pid = head.tool == "py-spy" && pid_ > 0 ? pid_ : head.pid,
              .thread = head.thread,
              .frames = {},
              .rank = rank_,
              .gil = head.gil};
      head_.keep(line);
      open_ = true;
      foreign_ = 0;
      return Line::part;
    }
    // A stack that was pasted without the line of its thread.
    if (begins_gdb_frames(text) && (!open_ || !top_.frames.empty())) {
      give(readings);
      top_ = {.tool = "gdb", .thread = {}, .frames = {}, .rank = rank_};
      head_.keep(line);
      open_ = true;
    }
    if (text.empty()) return Line::part;
    if (text.starts_with("Python v")) return Line::part;
    if (const std::string_view frame = read_frame(text); open_ && !frame.empty()) {
      if (top_.frames.size() < kMostFrames)
        top_.frames.emplace_back(frame.substr(0, kMostFrameBytes));
      foreign_ = 0;
      return Line::part;
    }
    return ++foreign_ > kMostForeign ? Line::after : Line::foreign;
  }

  void finish(std::vector<DocumentReading>& readings) override { give(readings); }
  std::string_view dialect() const override { return "stacks"; }

  std::size_t size() const override {
    std::size_t bytes = top_.thread.size() + head_.text.size();
    for (const std::string& frame : top_.frames) bytes += frame.size();
    for (const Member& member : group_) bytes += sizeof member + member.head.text.size();
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(pid_);
    saved.number(rank_);
    saved.number(open_ ? 1 : 0);
    saved.number(foreign_);
    saved.text(top_.tool);
    saved.number(top_.pid);
    saved.text(top_.thread);
    saved.number(top_.rank);
    saved.number(top_.gil ? 1 : 0);
    saved.number(static_cast<std::int64_t>(top_.frames.size()));
    for (const std::string& frame : top_.frames) saved.text(frame);
    head_.save(saved);
    saved.number(std::ssize(group_));
    for (const Member& member : group_) {
      saved.number(member.pid);
      member.head.save(saved);
    }
  }

  void restore(SavedBytesReader& saved) override {
    pid_ = saved.number();
    rank_ = saved.small_number();
    open_ = saved.number() != 0;
    foreign_ = saved.small_number();
    top_.tool = saved.text();
    top_.pid = saved.number();
    top_.thread = saved.text();
    top_.rank = saved.small_number();
    top_.gil = saved.number() != 0;
    const std::int64_t frames = saved.number();
    for (std::int64_t i = 0; i < frames && saved.ok(); ++i) top_.frames.emplace_back(saved.text());
    head_.restore(saved);
    const std::int64_t members = saved.number();
    for (std::int64_t i = 0; i < members && saved.ok(); ++i) {
      group_.emplace_back().pid = saved.number();
      group_.back().head.restore(saved);
    }
  }

 private:
  // People group processes with the same stack: the heads of all processes, then one stack.
  bool is_of_group(const Head& head) {
    if (!open_ || !top_.frames.empty() || pid_ > 0 || top_.pid == 0 || head.pid == 0 ||
        top_.thread != kMainThread || head.thread != kMainThread)
      return false;
    if (group_.size() < kMostOfGroup) group_.push_back({top_.pid, std::move(head_)});
    return true;
  }

  void give_one(std::int64_t pid, KeptLine&& line, std::vector<DocumentReading>& readings) {
    DocumentReading told;
    top_.pid = pid;
    told.reading.pid = pid;
    const std::string_view aborting = top_.tool == "gdb" ? aborting_in(top_.frames) : "";
    if (aborting.empty())
      told.reading.fact = top_;
    else
      told.reading.fact = PythonException{.type = std::string(PythonException::kOfCpp),
                                          .message = fmt::format("abort, called in {}", aborting)};
    told.line = std::move(line);
    readings.push_back(std::move(told));
  }

  void give(std::vector<DocumentReading>& readings) {
    if (open_ && !top_.frames.empty()) {
      const std::int64_t last = top_.pid;
      for (Member& member : group_) give_one(member.pid, std::move(member.head), readings);
      give_one(last, std::move(head_), readings);
    }
    top_ = {};
    head_ = {};
    group_.clear();
    open_ = false;
  }

  struct Member {
    std::int64_t pid = 0;
    KeptLine head;
  };

  std::int64_t pid_ = 0;
  int rank_ = -1;
  bool open_ = false;
  int foreign_ = 0;
  StackTop top_;
  KeptLine head_;
  std::vector<Member> group_;  // other processes with the same stack
};

}  // namespace

bool begins_stack_dump(std::string_view text) {
  text = trimmed(text);
  if (begins_gdb_frames(text)) return true;
  if (!text.starts_with("Thread ") && !text.starts_with("Current thread ") &&
      !text.starts_with("Process ") && !text.starts_with("=== Rank "))
    return false;
  Head head;
  std::int64_t pid = 0;
  int rank = -1;
  return read_head(text, head) || read_process(text, pid) || read_rank(text, rank);
}

std::unique_ptr<Document> make_stack_dump() { return std::make_unique<StackDump>(); }

}  // namespace faultline
