#include "ingest/trace_body.h"

#include <utility>

namespace faultline {
namespace {

// Each look reads from the beginning. So after this many bytes without a result, looks become rare.
constexpr std::size_t kOftenUpTo = 4096;

}  // namespace

bool TraceBody::may_begin(std::string_view bytes) {
  return trace_form(bytes.substr(0, kOftenUpTo), false) != TraceForm::none;
}

TraceBody::Step TraceBody::feed(std::string_view bytes) {
  if (!trace_ && held_.empty() &&
      trace_form(bytes.substr(0, kOftenUpTo), false) == TraceForm::trace)
    trace_ = std::make_unique<ChromeTrace>();
  if (trace_) return read(bytes);
  held_ += bytes;
  if (held_.size() < next_look_) return {};
  if (held_.size() > kOftenUpTo) next_look_ = 2 * held_.size();
  return decide(false);
}

TraceBody::Step TraceBody::decide(bool all) {
  const TraceForm form = trace_form(held_, all);
  if (form == TraceForm::unsure) return {};
  next_look_ = 0;
  const std::string held = std::exchange(held_, {});
  if (form == TraceForm::none) return {.what = What::text, .rest = held};
  trace_ = std::make_unique<ChromeTrace>();
  Step step = read(held);
  step.rest = held.substr(held.size() - std::exchange(step.unread, 0));
  return step;
}

TraceBody::Step TraceBody::read(std::string_view bytes) {
  const std::size_t taken = trace_->feed(bytes);
  size_ += taken;
  if (!trace_->complete()) return {};
  Step step{.what = What::trace,
            .size = std::exchange(size_, 0),
            .facts = trace_->facts(),
            .unread = bytes.size() - taken};
  trace_ = nullptr;
  return step;
}

std::string TraceBody::save() const {
  SavedBytesWriter saved;
  saved.text(held_);
  saved.number(static_cast<std::int64_t>(size_));
  if (trace_) trace_->save(saved);
  return saved.take();
}

void TraceBody::restore(std::string_view bytes) {
  SavedBytesReader saved(bytes);
  held_ = saved.text();
  size_ = static_cast<std::uint64_t>(saved.number());
  if (saved.ok() && saved.at_end()) return;
  trace_ = std::make_unique<ChromeTrace>();
  trace_->restore(saved);
  if (saved.ok() && saved.at_end()) return;
  *this = TraceBody();  // these bytes are not ours
}

TraceBody::Step TraceBody::finish() {
  if (!trace_) {
    Step step = decide(true);
    if (step.what != What::wait) return step;
  }
  Step step{.what = What::broken_off, .size = std::exchange(size_, 0), .facts = trace_->facts()};
  trace_ = nullptr;
  return step;
}

}  // namespace faultline
