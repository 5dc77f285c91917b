// Whether two findings are about one event. Several detectors may report one fault from lines of
// different kinds: a warning of NCCL and a setting, a kernel and a tool's report. If a job hangs,
// several clocks show it: the calls that NCCL's lines show as entered, those that PyTorch's
// watchdogs say were enqueued and completed, what its Flight Recorders saw of both, and where
// stacks stand.
#pragma once

#include <string_view>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

enum class Clock { nccl, watchdog, recorder, stacks, none };

Clock clock_of(std::string_view detector);
// none: the finding does not come from the calls that ranks made.
Clock clock_of(const Candidate& candidate);

// Whether it names no part at all: then it may be any finding of its class.
bool names_no_part(const Finding& finding);

// The same class, parts that overlap, phases that may be one.
bool tell_of_one(const View& view, const Candidate& one, const Candidate& other);

}  // namespace faultline
