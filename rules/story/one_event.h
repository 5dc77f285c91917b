// Whether two findings tell of one event. Several detectors may tell of one fault by lines of
// different kinds: a warning of NCCL and a setting, a kernel and a tool's report. Of a job that
// hangs several clocks tell: what NCCL's lines show as entered, what PyTorch's watchdogs say was
// enqueued and completed, what its Flight Recorders saw of both, where stacks stand.
#pragma once

#include <string_view>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

enum class Clock { nccl, watchdog, recorder, stacks, none };

Clock clock_of(std::string_view detector);
// Of a finding that is not told by which calls ranks made: none.
Clock clock_of(const Candidate& candidate);

// Whether it names no part at all: it may be any of its class.
bool names_no_part(const Finding& finding);

// The same class, parts that overlap, phases that may be one.
bool tell_of_one(const View& view, const Candidate& one, const Candidate& other);

}  // namespace faultline
