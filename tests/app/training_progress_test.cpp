// How far a training came and what it is doing, from the lines that frameworks print of its steps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ingest/reader.h"
#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

using std::chrono::minutes;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const Timestamp kBegin = *parse_rfc3339("2026-03-05T02:00:00Z");

std::string stamp(double second, char between = ' ') {
  std::string text = to_rfc3339(std::chrono::floor<std::chrono::seconds>(
      kBegin + std::chrono::microseconds(static_cast<std::int64_t>(second * 1e6))));
  text[text.find('T')] = between;
  text.erase(text.find('Z'));
  return text;
}

// How a framework prints a step at a second of the job. An empty loss stands for a usual one.
struct Framework {
  const char* name;
  std::function<std::string(int step, double second, const std::string& loss)> line;
  std::string step;  // how the diagnosis names step 80
  bool has_clock = true;
  bool has_loss = true;
};

std::string or_usual(const std::string& loss) { return loss.empty() ? "2.31" : loss; }

const std::vector<Framework>& frameworks() {
  static const std::vector<Framework> kAll = {
      {"Megatron-LM",
       [](int step, double second, const std::string& loss) {
         return fmt::format(
             " [{}] iteration {:8}/     500 | consumed samples: {:10} | elapsed time per iteration "
             "(ms): 4200.0 | learning rate: 1.0E-04 | lm loss: {} | grad norm: 0.31 | number of "
             "nan "
             "iterations:   0 |\n",
             stamp(second), step, step * 8, or_usual(loss));
       },
       "step 80 of 500"},
      {"NeMo",
       [](int step, double second, const std::string& loss) {
         return fmt::format(
             "[NeMo I {} nemo_logging:393] Training epoch 0, iteration {}/499 | lr: 1e-05 | "
             "global_step: {} | reduced_train_loss: {} | train_step_timing in s: 4.2\n",
             stamp(second), step, step, or_usual(loss));
       },
       "step 80 of 499"},
      {"Lightning",
       [](int step, double, const std::string& loss) {
         return fmt::format("\rEpoch 1:  {}%|##   | {}/100 [01:00<01:00,  4.20s/it, loss={}]",
                            step % 100, step, or_usual(loss));
       },
       "step 80 of 100 in epoch 1", false},
      {"DeepSpeed",
       [](int step, double second, const std::string&) {
         return fmt::format(
             "[{},123] [INFO] [logging.py:96:log_dist] [Rank 0] step={}, skipped=0, lr=[0.0001], "
             "mom=[(0.9, 0.95)]\n",
             stamp(second), step);
       },
       "step 80", true, false},
      {"HF Trainer",
       [](int step, double, const std::string& loss) {
         return fmt::format(
             "\r {}%|##   | {}/500 [01:00<10:00,  4.20s/it]\n{{'loss': {}, 'grad_norm': 0.5, "
             "'learning_rate': 5e-05, 'epoch': 0.1}}\n",
             step / 5, step, or_usual(loss));
       },
       "step 80 of 500", false},
      {"torchtitan",
       [](int step, double second, const std::string& loss) {
         return fmt::format(
             "[rank0]:[titan] {},123 - root - INFO - \x1b[31mstep: {}  \x1b[32mloss:  {}  "
             "\x1b[33mmemory: 61.22GiB(77.31%)  \x1b[34mtps: 6,211  \x1b[36mmfu: 36.82%\x1b[39m\n",
             stamp(second), step, or_usual(loss));
       },
       "step 80"},
      {"MaxText",
       [](int step, double second, const std::string& loss) {
         return fmt::format(
             "I0305 {}.123456   140 metric_logger.py:168] completed step: {}, seconds: 4.200, "
             "TFLOP/s/device: 198.2, Tokens/s/device: 3898.1, total_weights: 8192, loss: {}\n",
             stamp(second).substr(11), step, or_usual(loss));
       },
       "step 80"},
  };
  return kAll;
}

constexpr double kEach = 4.2;

std::string steps(const Framework& framework, int from, int to, const std::string& loss = {}) {
  std::string text;
  for (int step = from; step <= to; ++step) text += framework.line(step, step * kEach, loss);
  return text;
}

class Posted {
 public:
  explicit Posted(Moment moment = {}) : moment_(std::move(moment)) {}

  Posted& post(std::string_view text, const std::string& name = "train.log", bool close = true) {
    Reader reader(cursors_[name], *parse_rfc3339("2026-03-10T12:00:00Z"));
    reader.feed(text);
    if (close)
      reader.close();
    else
      reader.finish();
    job_.apply({"j", name, "", -1}, reader.take(), received);
    cursors_[name] = reader.cursor();
    return *this;
  }

  Diagnosis diagnosis() const {
    static const Catalog catalog = load_catalog();
    return diagnose(job_, catalog, moment_);
  }

  Timestamp received{};

 private:
  JobState job_{"j"};
  std::map<std::string, Cursor> cursors_;
  Moment moment_;
};

std::vector<std::string> causes(const Diagnosis& diagnosis) {
  std::vector<std::string> all;
  for (const Finding& finding : diagnosis.root_causes) all.emplace_back(name_of(finding.cause));
  return all;
}

TEST(TrainingProgress, TheLastStepIsSaidAndNobodyIsAccused) {
  for (const Framework& framework : frameworks()) {
    SCOPED_TRACE(framework.name);
    const Diagnosis diagnosis = Posted().post(steps(framework, 1, 80)).diagnosis();
    EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
    EXPECT_THAT(causes(diagnosis), IsEmpty());
    EXPECT_THAT(diagnosis.summary, HasSubstr(fmt::format("Training ({})", framework.name)));
    EXPECT_THAT(diagnosis.summary, HasSubstr(framework.step));
    EXPECT_THAT(diagnosis.summary, HasSubstr("one every 4.2 s until then"));
    EXPECT_THAT(diagnosis.summary, Not(HasSubstr("nothing for")));
    if (framework.has_clock) {
      EXPECT_THAT(diagnosis.summary, HasSubstr("at 2026-03-05 02:05:36"));
    }
  }
}

TEST(TrainingProgress, ALossThatIsNoNumberIsAFindingThatNamesNoRank) {
  for (const Framework& framework : frameworks()) {
    if (!framework.has_loss) continue;
    SCOPED_TRACE(framework.name);
    const std::string sound = steps(framework, 1, 60);
    const Diagnosis diagnosis = Posted().post(sound + steps(framework, 61, 70, "nan")).diagnosis();
    EXPECT_EQ(diagnosis.verdict, Verdict::corrupt);
    ASSERT_THAT(causes(diagnosis), ElementsAre("corruption.wrong_results"));
    EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("since step 61"));
    EXPECT_LT(diagnosis.root_causes[0].confidence, 0.6);
    EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, IsEmpty());
    // A number follows again: only one batch was bad.
    EXPECT_THAT(causes(Posted()
                           .post(sound + steps(framework, 61, 62, "nan") + steps(framework, 63, 70))
                           .diagnosis()),
                IsEmpty());
  }
}

std::string log_line(double second, const std::string& text) {
  return stamp(second, 'T') + "Z " + text;
}

// Behind the stamps of a log viewer, because other lines have these, too.
std::string watched(const Framework& framework, int to) {
  std::string text;
  for (int step = 1; step <= to; ++step) {
    std::string line = framework.line(step, step * kEach, {});
    while (line.starts_with('\r')) line.erase(0, 1);
    if (!line.ends_with('\n')) line += '\n';
    text += log_line(step * kEach, line);
  }
  return text;
}

// A line of another kind. The program's own clock counts before the viewer's, so MaxText's clock is
// in this line, too.
std::string other_line(const Framework& framework, double second) {
  const bool own = framework.name == std::string_view("MaxText");
  return log_line(second, own ? fmt::format("I0305 {}.123456   140 loader.py:8] still waits\n",
                                            stamp(second).substr(11))
                              : "the loader still waits\n");
}

TEST(TrainingProgress, AStallIsToldWhereTheLogGoesOnLongAfterTheLastStep) {
  for (const Framework& framework : frameworks()) {
    SCOPED_TRACE(framework.name);
    const std::string text = watched(framework, 80);
    const std::string later = other_line(framework, 80 * kEach + 16 * 60);
    const Diagnosis stands = Posted().post(text + later).diagnosis();
    EXPECT_EQ(stands.verdict, Verdict::hang);
    ASSERT_THAT(causes(stands), ElementsAre("collective.stalled"));
    EXPECT_THAT(stands.root_causes[0].title, HasSubstr("No training step came for 16 min"));
    EXPECT_THAT(stands.root_causes[0].subject.ranks, IsEmpty());
    EXPECT_LT(stands.root_causes[0].confidence, 0.8);
    EXPECT_THAT(stands.root_causes[0].evidence, SizeIs(2));
    EXPECT_THAT(stands.summary, HasSubstr("; nothing for 16 min"));
    // The training went on, although late.
    const Diagnosis went_on =
        Posted()
            .post(text + later + log_line(80 * kEach + 17 * 60, framework.line(81, 1356, {})) +
                  "\n")
            .diagnosis();
    EXPECT_THAT(causes(went_on), IsEmpty());
    EXPECT_THAT(went_on.summary, Not(HasSubstr("nothing for")));
    // Silence at the end of what was pasted proves nothing.
    EXPECT_THAT(causes(Posted().post(text).diagnosis()), IsEmpty());
  }
}

TEST(TrainingProgress, LinesMinutesApartAreNoStallAfterMinutes) {
  std::string text;
  for (int i = 1; i <= 12; ++i)
    text +=
        log_line(i * 420, fmt::format("iteration {:8}/ 50000 | elapsed time per iteration (ms): "
                                      "4200.0 | lm loss: 2.2E+00 |\n",
                                      i * 100));
  EXPECT_THAT(causes(Posted().post(text + log_line(12 * 420 + 1500, "x\n")).diagnosis()),
              IsEmpty());
  EXPECT_THAT(causes(Posted().post(text + log_line(12 * 420 + 2500, "x\n")).diagnosis()),
              ElementsAre("collective.stalled"));
}

TEST(TrainingProgress, WhatStoppedTheJobByItsOwnWordsIsToldInsteadOfTheStandstill) {
  const std::string text = watched(frameworks()[0], 80);
  const std::string later = other_line(frameworks()[0], 80 * kEach + 20 * 60);
  const auto raised = [](double second) {
    std::string lines;
    for (const char* line :
         {"Traceback (most recent call last):", "  File \"train.py\", line 7, in step",
          "    loss.backward()", "ValueError: bad sample 17"})
      lines += log_line(second, fmt::format("[rank3]: {}\n", line));
    return lines;
  };
  const Diagnosis failed = Posted().post(text + raised(340) + later).diagnosis();
  EXPECT_EQ(failed.verdict, Verdict::failed);
  EXPECT_THAT(causes(failed), ElementsAre("software.rank_crashed"));
  EXPECT_THAT(failed.summary, Not(HasSubstr("No training step")));
  EXPECT_THAT(failed.summary, HasSubstr("step 80 of 500"));
  const Diagnosis timed_out =
      Posted()
          .post(text +
                log_line(
                    940,
                    "[rank3]:[E305 02:15:40.000000000 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog "
                    "caught collective operation timeout: WorkNCCL(SeqNum=1712, OpType=ALLREDUCE, "
                    "NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600029 "
                    "milliseconds before timing out.\n") +
                later)
          .diagnosis();
  EXPECT_THAT(causes(timed_out), ElementsAre("collective.timeout"));
  // After the last step there is no step to wait for.
  EXPECT_THAT(causes(Posted()
                         .post(watched(frameworks()[0], 500) +
                               other_line(frameworks()[0], 500 * kEach + 20 * 60))
                         .diagnosis()),
              IsEmpty());
}

TEST(TrainingProgress, OfALogThatIsWatchedSilenceIsToldAsWell) {
  for (const Framework& framework : frameworks()) {
    SCOPED_TRACE(framework.name);
    Moment moment;
    moment.stall_after = minutes(2);
    moment.now = *parse_rfc3339("2026-03-10T12:00:00Z");
    moment.waiting_sources = {"train.log"};
    const std::string text = watched(framework, 80);
    const auto looked_at = [&](minutes after) {
      Posted job(moment);
      job.received = moment.now - after;
      return job.post(text, "train.log", false).diagnosis();
    };
    EXPECT_THAT(causes(looked_at(minutes(4))), IsEmpty());
    const Diagnosis stands = looked_at(minutes(16));
    ASSERT_THAT(causes(stands), ElementsAre("collective.stalled"));
    EXPECT_THAT(stands.root_causes[0].title, HasSubstr("for 16 min"));
    // The log is no longer open: the job may have ended.
    moment.waiting_sources.clear();
    EXPECT_THAT(causes(looked_at(minutes(16))), IsEmpty());
  }
}

TEST(TrainingProgress, OfALogThatIsWatchedAndGoesOnItIsToldBeforeTheLogEnds) {
  Moment moment;
  moment.stall_after = minutes(2);
  moment.now = *parse_rfc3339("2026-03-10T12:00:00Z");
  moment.waiting_sources = moment.live_sources = {"train.log"};
  for (const Framework& framework : frameworks()) {
    SCOPED_TRACE(framework.name);
    Posted job(moment);
    job.received = moment.now - minutes(20);
    job.post(watched(framework, 80), "train.log", false);
    std::string text;
    for (int second = 10; second < 1200; second += 10)
      text += other_line(framework, 80 * kEach + second);
    job.received = moment.now;
    job.post(text, "train.log", false);
    const Diagnosis stands = job.diagnosis();
    ASSERT_THAT(causes(stands), ElementsAre("collective.stalled"));
    EXPECT_THAT(stands.root_causes[0].title, HasSubstr("No training step came for"));
    EXPECT_LT(stands.root_causes[0].confidence, 0.8);
  }
}

TEST(TrainingProgress, TheTrainersBarIsReadAtItsEndWhereItLoggedNothing) {
  const Diagnosis diagnosis =
      Posted()
          .post(
              "\r  6%|#     | 1/16 [00:58<14:41, 58.76s/it]\r100%|######| 16/16 [15:19<00:00, "
              "57.45s/it]{'train_runtime': 919.2, 'train_loss': 9.1, 'epoch': 1.0}\nSaving model "
              "checkpoint to /out\n")
          .diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.summary, HasSubstr("Training (HF Trainer): step 16 of 16; it ended"));
  // A bar alone may count anything.
  const Diagnosis bar = Posted().post("\r  6%|#     | 1/16 [00:58<14:41, 58.76s/it]\n").diagnosis();
  EXPECT_THAT(bar.summary, Not(HasSubstr("Training")));
}

TEST(TrainingProgress, ASaveThatDoesNotEndIsWhereTheTrainingStands) {
  struct Case {
    const char* why;
    std::size_t framework;
    std::string begins;
    std::string ends;
  };
  for (const Case& it : {
           Case{"Megatron-LM", 0,
                "saving checkpoint at iteration      80 to /ckpt in torch format\n",
                "  successfully saved checkpoint from iteration      80 to /ckpt\n"},
           Case{"torchtitan", 5,
                "[rank0]:[titan] - root - INFO - Saving the checkpoint (or staging if async is "
                "enabled).\n",
                "[rank0]:[titan] - root - INFO - Finished saving the checkpoint (or staging if "
                "async "
                "is enabled) in 41.20 seconds.\n"},
       }) {
    SCOPED_TRACE(it.why);
    const std::string text = watched(frameworks()[it.framework], 80) + log_line(337, it.begins);
    const std::string later = log_line(340 + 16 * 60, "the loader still waits\n");
    const Diagnosis stands = Posted().post(text + later).diagnosis();
    ASSERT_THAT(causes(stands), ElementsAre("collective.stalled"));
    EXPECT_THAT(stands.root_causes[0].title, HasSubstr("The save of a checkpoint"));
    EXPECT_THAT(stands.summary, HasSubstr("then the save of a checkpoint began"));
    const Diagnosis saved =
        Posted().post(text + log_line(380, it.ends) + log_line(500, "x\n")).diagnosis();
    EXPECT_THAT(causes(saved), IsEmpty());
    EXPECT_THAT(saved.summary, Not(HasSubstr("save of a checkpoint")));
  }
}

TEST(TrainingProgress, AnEvaluationAndTheEndExplainThatNoStepComes) {
  const std::string later = log_line(340 + 16 * 60, "the loader still waits\n");
  const std::string text = watched(frameworks()[0], 80);
  const Diagnosis evaluates =
      Posted().post(text + log_line(337, "Evaluating on 4096 samples\n") + later).diagnosis();
  EXPECT_THAT(causes(evaluates), IsEmpty());
  EXPECT_THAT(evaluates.summary, HasSubstr("then an evaluation began"));
  const Diagnosis ended =
      Posted()
          .post(text + log_line(337, "[after training is done] datetime: 2026-03-05\n") + later)
          .diagnosis();
  EXPECT_THAT(causes(ended), IsEmpty());
  EXPECT_THAT(ended.summary, HasSubstr("it ended"));
  // Steps alone do not prove health, whatever the name of the log.
  EXPECT_EQ(Posted().post(text, "rank_0.log").diagnosis().verdict, Verdict::unknown);
  EXPECT_EQ(Posted().post("0: " + text).diagnosis().verdict, Verdict::unknown);
}

TEST(TrainingProgress, StepsThatTakeLongerThanAtFirstAreSaid) {
  std::string text;
  for (int step = 1; step <= 90; ++step)
    text += fmt::format("completed step: {}, seconds: {}, TFLOP/s/device: 198.2, loss: 2.2\n", step,
                        step == 40  ? 61.5
                        : step > 50 ? 12.4
                                    : 4.2);
  const Diagnosis diagnosis = Posted().post(text).diagnosis();
  EXPECT_THAT(causes(diagnosis), IsEmpty());
  EXPECT_THAT(diagnosis.summary, HasSubstr("one every 12 s until then and every 4.2 s at first"));
  EXPECT_THAT(diagnosis.summary, HasSubstr("the longest took 62 s (step 40)"));
}

// Prefixes around lines and cuts leave the message the same or weaker.
TEST(TrainingProgress, WrappingsAndCutsTellTheSameOrLess) {
  const auto each_line = [](const std::string& text, const std::string& prefix) {
    std::string wrapped;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) wrapped += prefix + line + "\n";
    return wrapped;
  };
  for (const Framework& framework : frameworks()) {
    SCOPED_TRACE(framework.name);
    const std::string text = steps(framework, 1, 80);
    for (const std::string prefix : {"2026-03-05T02:47:10Z ", "[pod/train-0/main] ",
                                     "0: ", "[default3]: ", "[1,5]<stdout>:", "gpu-7  | "}) {
      SCOPED_TRACE(prefix);
      const Diagnosis diagnosis = Posted().post(each_line(text, prefix)).diagnosis();
      EXPECT_THAT(diagnosis.summary, HasSubstr(framework.step));
      EXPECT_THAT(causes(diagnosis), IsEmpty());
      EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
    }
    for (std::size_t cut = 1; cut < text.size(); cut += 211) {
      const Diagnosis behind = Posted().post(text.substr(cut)).diagnosis();
      EXPECT_THAT(causes(behind), IsEmpty()) << cut;
      const Diagnosis before = Posted().post(text.substr(0, cut)).diagnosis();
      EXPECT_THAT(causes(before), IsEmpty()) << cut;
      if (before.summary.find("step 80") != std::string::npos) {
        EXPECT_GT(cut, text.size() - 400);
      }
    }
  }
}

TEST(TrainingProgress, TheOrderOfFilesChangesNothing) {
  const std::string steps_file = watched(frameworks()[0], 80);
  const std::string saves = log_line(337, "saving checkpoint at iteration      80 to /ckpt\n");
  const std::string later = log_line(340 + 16 * 60, "the loader still waits\n");
  const Diagnosis one =
      Posted().post(steps_file, "rank_7.log").post(saves + later, "rank_0.log").diagnosis();
  const Diagnosis other =
      Posted().post(saves + later, "rank_0.log").post(steps_file, "rank_7.log").diagnosis();
  EXPECT_EQ(one.summary, other.summary);
  EXPECT_EQ(one.verdict, other.verdict);
  EXPECT_THAT(one.summary, HasSubstr("step 80 of 500"));
}

TEST(TrainingProgress, TheRankThatFoundWhatIsNoNumberIsNamed) {
  struct Case {
    const char* why;
    const char* text;
    std::size_t found;
  };
  for (const Case& it : {
           Case{"of old",
                "Rank 5: found NaN in local forward loss calculation. Device: 5, node: gpu-3\n", 1},
           Case{"newer",
                "Rank 5, node gpu-3, device 5, iteration 81: Unexpected result nan (message='found "
                "NaN "
                "in local forward loss calculation')\n",
                1},
           Case{
               "raised",
               "Traceback (most recent call last):\n  File \"pretrain.py\", line 88, in loss_func\n"
               "    assert not loss.isnan()\nAssertionError: Rank 5: found NaN in local forward "
               "loss "
               "calculation. Device: 5, node: gpu-3\n",
               1},
           Case{"the healthy twin", "Rank 5: found no NaN in local forward loss calculation\n", 0},
       }) {
    SCOPED_TRACE(it.why);
    Workshop workshop;
    workshop.write("job/train.log", steps(frameworks()[0], 1, 80) + it.text);
    const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "job");
    if (it.found == 0) {
      EXPECT_THAT(causes(diagnosis), IsEmpty());
      continue;
    }
    ASSERT_THAT(causes(diagnosis), Not(IsEmpty()));
    EXPECT_EQ(causes(diagnosis).front(), "corruption.wrong_results");
    EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("Rank 5 found NaN"));
    EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(5));
    EXPECT_LT(diagnosis.root_causes[0].confidence, 0.8);
    EXPECT_THAT(diagnosis.summary, HasSubstr("step 80 of 500"));
  }
}

TEST(TrainingProgress, WordsOfAnEndAreNoHealthWhileStepsLack) {
  const auto verdict = [](int steps, const std::string& words) {
    std::string text;
    for (int step = 1; step <= steps; ++step)
      text += fmt::format(
          " iteration {:8}/      20 | elapsed time per iteration (ms): 4200.0 | lm loss: 2.31 |\n",
          step);
    return Posted().post(text + words).diagnosis().verdict;
  };
  EXPECT_EQ(verdict(20, "[after training is done] datetime: 2026-03-05 02:47:10\n"),
            Verdict::healthy);
  EXPECT_EQ(verdict(20, "Training completed.\n"), Verdict::healthy);
  for (const char* words :
       {"Training completed epoch 1 of 10\n", "Training completed with 3 failures\n"})
    EXPECT_EQ(verdict(20, words), Verdict::unknown) << words;
  for (const char* words :
       {"[after training is done] datetime: 2026-03-05 02:47:10\n", "Training completed\n"})
    EXPECT_EQ(verdict(12, words), Verdict::unknown) << words;
}

}  // namespace
}  // namespace faultline
