#include "ingest/kept_lines.h"

#include <utility>

namespace faultline {
namespace {

// These numbers are stored: a number must never get another meaning.
enum class Mark : std::uint8_t {
  text = 1,
  hidden_line = 2,
  blank = 3,
  calls = 4,
  passed = 5,
  body = 6,
  file = 7,
  boot_time = 8,
  settle = 9,
  finish = 10,
  close = 11,
  rest = 12,
};

void write(ByteWriter& out, Mark mark) { out.byte(static_cast<std::uint8_t>(mark)); }

void write(ByteWriter& out, Mark mark, LineSpan& span) {
  if (span.lines == 0 && span.bytes == 0) return;
  write(out, mark);
  out.number(span.lines);
  out.number(span.bytes);
  span = {};
}

void add(LineSpan& span, const LineSpan& more) {
  span.lines += more.lines;
  span.bytes += more.bytes;
}

LineSpan read_span(ByteReader& in) {
  const std::uint64_t lines = in.number();
  return {.lines = lines, .bytes = in.number()};
}

Timestamp read_timestamp(ByteReader& in) {
  return Timestamp(std::chrono::microseconds(in.signed_number()));
}

void visit_next(ByteReader& in, KeptLinesVisitor& visitor) {
  switch (static_cast<Mark>(in.byte())) {
    case Mark::text:
      return visitor.text(in.text());
    case Mark::rest: {
      const bool counted = in.byte() != 0;
      return visitor.rest(in.text(), counted);
    }
    case Mark::hidden_line: {
      const std::uint64_t bytes = in.number();
      return visitor.hidden_line(in.text(), bytes);
    }
    case Mark::blank:
      return visitor.blank(in.number());
    case Mark::calls:
      return visitor.calls(read_span(in));
    case Mark::passed:
      return visitor.passed(read_span(in));
    case Mark::body:
      return visitor.begin_body(read_timestamp(in));
    case Mark::file:
      return visitor.begin_file();
    case Mark::boot_time:
      return visitor.set_boot_time(read_timestamp(in));
    case Mark::settle:
      return visitor.settle();
    case Mark::finish:
      return visitor.finish();
    case Mark::close:
      return visitor.close();
  }
  throw BadBytes("has an unknown mark");
}

}  // namespace

void LineKeeper::end_text() {
  if (text_.empty()) return;
  write(out_, Mark::text);
  out_.text(text_);
  text_.clear();
}

void LineKeeper::end_all() {
  end_text();
  write(out_, Mark::calls, calls_);
  write(out_, Mark::passed, passed_);
}

void LineKeeper::line(std::string_view text, std::uint64_t bytes) {
  if (text.size() + 1 == bytes) {
    piece(text);
    text_ += '\n';
    return;
  }
  only_calls_ = false;
  end_all();
  write(out_, Mark::hidden_line);
  out_.number(bytes);
  out_.text(text);
}

void LineKeeper::piece(std::string_view text) {
  only_calls_ = false;
  if (text_.empty()) end_all();
  text_ += text;
}

void LineKeeper::rest(std::string_view text, bool ends, bool counted) {
  only_calls_ = false;
  end_all();
  write(out_, Mark::rest);
  out_.byte(counted ? 1 : 0);
  std::string more(text);
  if (ends) more += '\n';
  out_.text(more);
}

void LineKeeper::blank(std::uint64_t lines) {
  constexpr std::uint64_t kFew = 64;
  only_calls_ = false;
  if (lines <= kFew && !text_.empty()) {
    text_.append(static_cast<std::size_t>(lines), '\n');
    return;
  }
  end_all();
  write(out_, Mark::blank);
  out_.number(lines);
}

void LineKeeper::calls(LineSpan span) {
  if (!text_.empty() || passed_.bytes + passed_.lines > 0) end_all();
  add(calls_, span);
}

void LineKeeper::passed(LineSpan span) {
  only_calls_ = false;
  if (!text_.empty() || calls_.bytes > 0) end_all();
  add(passed_, span);
}

void LineKeeper::begin_body(Timestamp received) {
  end_all();
  write(out_, Mark::body);
  out_.signed_number(received.time_since_epoch().count());
}

void LineKeeper::begin_file() {
  end_all();
  write(out_, Mark::file);
}

void LineKeeper::set_boot_time(Timestamp boot_time) {
  only_calls_ = false;
  end_all();
  write(out_, Mark::boot_time);
  out_.signed_number(boot_time.time_since_epoch().count());
}

void LineKeeper::settle() {
  end_all();
  write(out_, Mark::settle);
}

void LineKeeper::finish() {
  end_all();
  write(out_, Mark::finish);
}

void LineKeeper::close() {
  only_calls_ = false;
  end_all();
  write(out_, Mark::close);
}

std::string LineKeeper::take() {
  end_all();
  only_calls_ = true;
  return std::exchange(out_, {}).take();
}

Result<void> read_kept_lines(std::string_view kept, KeptLinesVisitor& visitor) try {
  ByteReader in(kept);
  while (!in.at_end()) visit_next(in, visitor);
  return {};
} catch (const BadBytes& error) {
  return Error{Error::Kind::invalid_input, error.what()};
}

}  // namespace faultline
