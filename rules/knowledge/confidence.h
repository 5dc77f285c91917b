// How sure a diagnosis is: docs/confidence.md. Each detector says how firm its own evidence is;
// what is added for the company that a finding is in, and what of it all is stated in the end,
// stands here.
#pragma once

namespace faultline {

// Added: cause and consequence bear each other out.
inline constexpr double kExplainsTheStop = 0.03;
// Times: something stopped the job, and this does not account for it.
inline constexpr double kExplainsNothing = 0.6;
// Added where clocks tell of one event: NCCL's lines name communicators and GPUs.
inline constexpr double kNcclTellsMore = 0.15;
// Times how firm a finding is: as firm must be what accounts for it, where it tells a reason of its
// own, and where it asks for one.
inline constexpr double kFirmEnoughForACause = 0.65;
inline constexpr double kFirmEnoughForASymptom = 0.3;
// At most: others are shown to have called the wrong thing.
inline constexpr double kQueuedLess = 0.05;
// At most: what only slows a job did not stop it.
inline constexpr double kSlowBesideAStop = 0.4;
inline constexpr double kMostConfidence = 0.98;

// Of what is stated. Times what is left of doubt: lines of another kind tell the same.
inline constexpr double kDoubtWhereBorneOut = 0.7;
// Times: no line of some ranks was seen, and what began it all may stand in theirs.
inline constexpr double kSomeUnheard = 0.97;

// What is stated where evidence is so firm: as often as it was right on the scoreboard, never less
// sure of the order, and never as sure as one can be.
double stated_confidence(double firmness);

// Of what is stated: below it nobody is blamed, only suspected.
inline constexpr double kLeastToBlame = 0.8;

}  // namespace faultline
