#include "ingest/dump_body.h"

#include <algorithm>
#include <utility>

#include "parsers/torch/pickle.h"

namespace faultline {
namespace {

// A pickle that will be refused should not be held for long. But each look reads it from its
// beginning, so looks are rare.
constexpr std::size_t kFirstLook = 4096;
constexpr std::size_t kLookGrowth = 8;

// Up to here, the buffer of a pickle doubles when it is full. Then it grows at once to the limit,
// because there are two copies while it grows.
constexpr std::size_t kLastDoubling = kMaxPickleBytes / 3;

}  // namespace

bool DumpBody::may_begin(std::string_view bytes) {
  return dump_form(bytes.substr(0, kDumpFormBytes), false) != DumpForm::none;
}

void DumpBody::add(std::string_view bytes) {
  const bool grows_last = form_ == DumpForm::pickle && held_.capacity() < kMaxPickleBytes &&
                          held_.size() + bytes.size() > kLastDoubling;
  if (grows_last) held_.reserve(std::max(kMaxPickleBytes, held_.size() + bytes.size()));
  held_ += bytes;
}

// Many small dumps may follow each other: what is left is moved to the front only now and then.
void DumpBody::drop(std::size_t bytes) {
  dropped_ += bytes;
  if (dropped_ * 2 >= held_.size()) held_.erase(0, std::exchange(dropped_, 0));
  form_ = DumpForm::unsure;
  extent_ = JsonExtent();
  next_look_ = 0;
}

std::string DumpBody::take() {
  std::string text = std::move(held_);
  text.erase(0, std::exchange(dropped_, 0));
  held_.clear();
  drop(0);
  return text;
}

void DumpBody::pass_over() {
  held_ = std::string();
  dropped_ = 0;
  passing_over_ = true;
}

DumpBody::Step DumpBody::next(bool all, bool now) {
  if (passing_over_) return {};
  const std::string_view beginning = held().substr(0, kDumpFormBytes);
  if (form_ == DumpForm::unsure) form_ = dump_form(beginning, all);
  if (form_ == DumpForm::unsure) return {};
  if (form_ == DumpForm::none) return {.what = Step::What::text};
  if (form_ == DumpForm::json) return next_json(all);

  if (!all && !now && size() < std::max(next_look_, kFirstLook)) return {};
  next_look_ = std::min(size() * kLookGrowth, kMaxPickleBytes + 1);
  DumpReading reading = read_dump_pickle(held(), all);
  if (reading.outcome == DumpReading::Outcome::incomplete) return {};
  const auto& dump = std::get<FlightRecorderDump>(reading.facts.front().fact);
  Step step{.what = dump.broken_off         ? Step::What::broken_off
                    : !dump.refused.empty() ? Step::What::refused
                                            : Step::What::dump,
            .bytes = reading.consumed};
  step.facts = std::move(reading.facts);
  return step;
}

DumpBody::Step DumpBody::next_json(bool all) {
  extent_.look_at(held());
  if (extent_.hopeless() || size() > kMaxBytes) return {.what = Step::What::text};
  if (!extent_.complete() && !all) return {};
  Step step{.what = Step::What::dump, .bytes = size()};
  if (extent_.complete()) {
    step.bytes = extent_.end();
    DumpReading reading = read_dump_json(held().substr(0, step.bytes), false);
    if (reading.outcome == DumpReading::Outcome::other) return {.what = Step::What::text};
    step.facts = std::move(reading.facts);
    return step;
  }
  step.what = Step::What::broken_off;
  const std::string mended = extent_.mended(held());
  if (!mended.empty()) step.facts = read_dump_json(mended, true).facts;
  if (step.facts.empty())
    step.facts.push_back(refused_dump("json", "it breaks off before its first entry ends"));
  return step;
}

}  // namespace faultline
