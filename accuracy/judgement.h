// Which diagnosis is right for a job, and how right a given diagnosis is.
#pragma once

#include <string>
#include <vector>

#include "accuracy/family.h"
#include "model/explanation.h"
#include "model/finding.h"
#include "simulate/truth.h"

namespace faultline::accuracy {

struct WantedCause {
  std::string name;  // the class
  Subject subject;   // must be named
  Subject may_name;  // may be named besides
};

struct Wanted {
  std::vector<WantedCause> causes;  // none: nothing is wrong, or nothing shows what is
  // The logs may not show why the job stopped: no cause, or a symptom, is right as well.
  bool open = false;
  Subject not_wrong;  // if open: the parts that may be named
  std::vector<Verdict> verdicts;

  bool healthy() const { return causes.empty() && !open; }
};

// `nccl`: the version of this job; old versions print less.
Wanted wanted_of(const Family& family, std::string_view nccl, const simulation::Truth& truth);

// A cause that a diagnosis stated, and whether it was right.
struct Stated {
  std::string cause;
  double confidence = 0;
  bool right = false;
  std::vector<ConfidenceStep> sum;  // the terms of its confidence
};

struct Score {
  bool verdict = false;
  bool first = false;    // the class of the first cause is right
  bool third = false;    // the cause is among the first three; of two causes, both are
  bool culprit = false;  // the first cause names the right parts
  bool false_alarm = false;
  bool forbidden = false;      // a wrong part is named at 0.9 or more
  std::vector<Stated> stated;  // every root cause, the first one first
  std::string trouble;         // what is wrong, in words; empty: nothing
};

Score judge(const Diagnosis& diagnosis, const Wanted& wanted);

// The terms of a finding's confidence; empty: the explanation has none.
std::vector<ConfidenceStep> sum_of(const Diagnosis& diagnosis, const Finding& finding);

// Whether `named` holds all parts of `must`, and none beyond `must` and `may`.
bool names_the_right(const Subject& named, const Subject& must, const Subject& may);

}  // namespace faultline::accuracy
