// What a detector says: a finding, and what the diagnosis needs to order it among others.
#pragma once

#include "model/finding.h"
#include "model/time.h"
#include "rules/knowledge/phase.h"
#include "rules/knowledge/sureness.h"

namespace faultline {

struct Suspicion {
  Finding finding;
  EventTime since;
  Phase phase = Phase::during;  // when it was, seen from the job
  // True: the job cannot go on with it. Such a symptom must be explained, or be named itself.
  bool stops_job = false;
  Verdict verdict = Verdict::failed;  // if this is what is wrong
  bool job_ran_with_it = false;       // it was so from the start, and the job got to work
  bool needs_effect = false;          // accuses nobody unless it accounts for something
  bool tells_verdict = false;         // its lines tell how the job ended; what it explains does not
  Sureness sure;                      // finding.confidence is worked out from it
  bool names_its_reason = false;      // its text says why; nothing of the whole host does
  bool says_not_why = false;          // nor does any line that it was found by
  bool reason_is_told = false;        // by its own program, before or after: it began nothing
};

}  // namespace faultline
