#include "parsers/torch/notebook_traceback.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/python_traceback.h"
#include "parsers/torch/torch_group.h"
#include "parsers/torch/torch_reports.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kHead = "Traceback (most recent call last)";
constexpr std::size_t kMostTextBytes = 1024;
constexpr int kMostOfOthers = 16;  // foreign lines before the next line of the traceback

// "RuntimeError                    Traceback (most recent call last)"
std::optional<std::string_view> type_in_head(std::string_view text) {
  text = trimmed(text);
  if (!text.ends_with(kHead)) return std::nullopt;
  static const Pattern kNamed(R"(^([A-Za-z_][\w.]*[A-Za-z]) {2,}T)");
  std::string_view type;
  if (!kNamed.find(text, &type)) return std::nullopt;
  return type;
}

struct Frame {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;
};

// File ~/train.py:210, in main(args)
// ~/train.py in main(args)
// Cell In[3], line 3
std::optional<Frame> frame_in(std::string_view text) {
  static const Pattern kNumbered(R"(^File (\S+):(\d+)(?:, in ([^(]+))?)");
  static const Pattern kCell(R"(^((?:Cell |Input )In ?\[\d+\])(?:, line (\d+)|, in ))");
  static const Pattern kNamed(R"(^([~/<]\S*) in ([\w<>.]+))");
  Frame frame;
  std::string_view digits;
  if (!kNumbered.find(text, &frame.file, &digits, &frame.function) &&
      !kCell.find(text, &frame.file, &digits) && !kNamed.find(text, &frame.file, &frame.function))
    return std::nullopt;
  frame.line = number_in<std::int64_t>(digits).value_or(0);
  return frame;
}

// "     12 " or "---> 12 ": a line of code. The arrow marks the line that was executed. " (...)":
// lines are left out.
struct Code {
  std::int64_t line = 0;
  bool is_called = false;
};
std::optional<Code> code_in(std::string_view text) {
  static const Pattern kCode(R"(^ *(-+> ?)?(\d{1,7})(?: |$))");
  std::string_view arrow;
  std::string_view digits;
  if (!kCode.find(text, &arrow, &digits)) return std::nullopt;
  return Code{number_in<std::int64_t>(digits).value_or(0), !arrow.empty()};
}

class NotebookTraceback : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = trimmed(line.text);
    if (head_.number != 0 && (line.host != head_.host || line.rank != head_.rank))
      return Line::foreign;
    if (const auto type = type_in_head(text)) {
      begin(*type, line);
      return Line::part;
    }
    if (text.empty()) return Line::part;
    if (type_.empty()) return read_between(text);
    if (const auto frame = frame_in(text)) {
      foreign_ = 0;
      last_code_ = 0;
      file_ = frame->file.substr(0, kMostTextBytes);
      function_ = trimmed(frame->function.substr(0, kMostTextBytes));
      file_line_ = frame->line;
      called_.number = 0;
      return Line::part;
    }
    if (text == "(...)") return Line::part;
    if (const auto code = code_in(line.text); code && is_near(code->line)) {
      last_code_ = code->line;
      if (!code->is_called) return Line::part;
      foreign_ = 0;
      file_line_ = code->line;
      called_.keep(line);
      return Line::part;
    }
    std::string_view message = text;
    if (!take_front(message, type_) || !(message.empty() || take_front(message, ":")))
      return ++foreign_ > kMostOfOthers ? Line::after : Line::foreign;
    if (!line.cut) give(trimmed(message), line, readings);
    return Line::part;
  }

  std::string_view dialect() const override { return "python"; }

  std::size_t size() const override {
    return sizeof(*this) + type_.size() + file_.size() + function_.size() + head_.text.size() +
           called_.text.size();
  }

  void save(SavedBytesWriter& saved) const override {
    saved.text(type_);
    saved.number(follows_ ? 1 : 0);
    saved.number(foreign_);
    saved.text(file_);
    saved.number(file_line_);
    saved.number(last_code_);
    saved.text(function_);
    head_.save(saved);
    called_.save(saved);
  }

  void restore(SavedBytesReader& saved) override {
    type_ = saved.text();
    follows_ = saved.number() != 0;
    foreign_ = saved.small_number();
    file_ = saved.text();
    file_line_ = saved.number();
    last_code_ = saved.number();
    function_ = saved.text();
    head_.restore(saved);
    called_.restore(saved);
  }

 private:
  // A frame shows only a few lines of code around the executed one.
  bool is_near(std::int64_t line) const {
    constexpr std::int64_t kMostLeftOut = 64;
    return last_code_ == 0 || (line > last_code_ && line <= last_code_ + kMostLeftOut);
  }

  void begin(std::string_view type, const DocumentLine& line) {
    const bool follows = type_.empty() && follows_;
    *this = NotebookTraceback();
    type_ = type.substr(0, kMostTextBytes);
    follows_ = follows;
    head_.keep(line);
  }

  // After an exception another one may follow that was raised while the first was handled.
  Line read_between(std::string_view text) {
    follows_ = chains_tracebacks(text);
    return follows_ ? Line::part : Line::after;
  }

  void give(std::string_view message, const DocumentLine& line,
            std::vector<DocumentReading>& readings) {
    PythonException exception{.type = std::exchange(type_, {}),
                              .message = std::string(message.substr(0, 2 * kMostTextBytes)),
                              .file = std::exchange(file_, {}),
                              .file_line = file_line_,
                              .function = std::exchange(function_, {}),
                              .follows = std::exchange(follows_, false)};
    KeptLine last;
    last.keep(line);
    for (KeptLine* kept : {&head_, &called_, &last})
      if (kept->number != 0)
        exception.lines.push_back({kept->number, kept->offset, std::move(kept->text)});
    readings.push_back({.reading = {.fact = std::move(exception)}, .line = {}});
    std::vector<Reading> told;
    parse_torch_raised(message, told);
    for (Reading& reading : told) readings.push_back({.reading = std::move(reading), .line = {}});
  }

  std::string type_;  // of the exception; empty once the exception was read
  bool follows_ = false;
  int foreign_ = 0;
  std::string file_;  // of the last frame so far
  std::int64_t file_line_ = 0;
  std::int64_t last_code_ = 0;  // the last line of code in this frame
  std::string function_;
  KeptLine head_;
  KeptLine called_;
};

}  // namespace

bool begins_notebook_traceback(std::string_view text) { return type_in_head(text).has_value(); }

std::unique_ptr<Document> make_notebook_traceback() {
  return std::make_unique<NotebookTraceback>();
}

}  // namespace faultline
