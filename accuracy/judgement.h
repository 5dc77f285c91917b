// What a diagnosis should have been, and what it was.
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
  std::vector<WantedCause> causes;  // none: nothing is wrong, or nothing says what
  // The logs do not say why it stopped: to say nothing is right, and so is a symptom; a cause is
  // wrong.
  bool open = false;
  Subject not_wrong;  // of an open one: parts that may be named
  std::vector<Verdict> verdicts;

  bool healthy() const { return causes.empty() && !open; }
};

// `nccl`: the version of this job; old ones tell less.
Wanted wanted_of(const Family& family, std::string_view nccl, const simulation::Truth& truth);

// What a diagnosis stated, and whether it was so.
struct Stated {
  std::string cause;
  double confidence = 0;
  bool right = false;
  std::vector<ConfidenceStep> sum;  // what made it so sure
};

struct Score {
  bool verdict = false;
  bool first = false;    // the class of the first cause
  bool third = false;    // among the first three; of two causes: both
  bool culprit = false;  // the first cause's parts
  bool false_alarm = false;
  bool forbidden = false;      // a wrong part at 0.9 or more
  std::vector<Stated> stated;  // every root cause, the first one first
  std::string trouble;         // in words; empty: all is right
};

Score judge(const Diagnosis& diagnosis, const Wanted& wanted);

// The sum that made a finding as sure as it is; empty: it is told without one.
std::vector<ConfidenceStep> sum_of(const Diagnosis& diagnosis, const Finding& finding);

// Whether what is named of a cause is what must be, and nothing else.
bool names_the_right(const Subject& named, const Subject& must, const Subject& may);

}  // namespace faultline::accuracy
