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
  Verdict verdict = Verdict::failed;  // of the job, if this is the cause
  bool job_ran_with_it = false;       // it was there from the start, and the job got to work
  bool needs_effect = false;          // accuses nobody unless it explains something
  bool tells_verdict = false;  // its lines say how the job ended; those of its effects do not count
  Sureness sure;               // finding.confidence is worked out from it
  bool names_its_reason = false;  // its text says why, so no fault of the whole host explains it
  bool is_of_the_code = false;    // no fault of a machine explains it, unless a clock says so
  bool says_not_why = false;      // none of its lines says why
  bool reason_is_told = false;    // its program prints the reason in another line: it began nothing
};

}  // namespace faultline
