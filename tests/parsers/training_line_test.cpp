#include "parsers/training/training_line.h"

#include "parsers/training/training_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

using What = TrainingLine::What;

struct Case {
  const char* why;
  std::string text;
  What what;
  const char* tool;
  std::int64_t step;
  std::int64_t of;
  double seconds;  // 0: none
  const char* loss;
};

const Case kCases[] = {
    {"Megatron-LM with its stamp",
     " [2026-03-05 02:31:07] iteration     1520/   50000 | consumed samples:      1556480 | "
     "elapsed "
     "time per iteration (ms): 4203.7 | throughput per GPU (TFLOP/s/GPU): 401.2 | learning rate: "
     "1.2E-04 | global batch size:  1024 | lm loss: 2.213507E+00 | loss scale: 1.0 | grad norm: "
     "0.311 | number of skipped iterations:   0 | number of nan iterations:   0 |",
     What::step, "Megatron-LM", 1520, 50000, 4.2037, "2.213507E+00"},
    {"Megatron-LM of old, whose steps were skipped",
     " iteration       10/     800 | elapsed time per iteration (ms): 1911.0 | learning rate: "
     "0.000E+00 | loss scale: 65536.0 | number of skipped iterations:  10 |",
     What::step, "Megatron-LM", 10, 800, 1.911, ""},
    {"a fork that counts seconds",
     "iteration 7/ 90 | elapsed time per iteration (s): 109.62 | lm loss: 9.1E+00 |", What::step,
     "Megatron-LM", 7, 90, 109.62, "9.1E+00"},
    {"NeMo 2",
     "Training epoch 0, iteration 37/499 | lr: 2.1e-05 | global_batch_size: 512 | global_step: 37 "
     "| reduced_train_loss: 7.61 | train_step_timing in s: 5.334 | consumed_samples: 19456",
     What::step, "NeMo", 37, 499, 5.334, "7.61"},
    {"NeMo 1, which draws a bar",
     "Epoch 0: :  12%|#2        | 120/1000 [02:11<16:02,  1.25it/s, v_num=0, "
     "reduced_train_loss=5.120, global_step=119.0, consumed_samples=61440.0]",
     What::step, "Lightning", 119, 0, 0.8, "5.120"},
    {"Lightning", "Epoch 3:  25%|##5       | 250/1000 [01:40<05:00,  2.50it/s, v_num=4, loss=0.71]",
     What::step, "Lightning", 250, 1000, 0.4, "0.71"},
    {"DeepSpeed",
     "[2026-03-05 02:31:07,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=1520, skipped=3, "
     "lr=[0.0001, 0.0001], mom=[(0.9, 0.95), (0.9, 0.95)]",
     What::step, "DeepSpeed", 1520, 0, 0, ""},
    {"DeepSpeed's speed",
     "[2026-03-05 02:31:07,140] [INFO] [timer.py:215:stop] epoch=0/micro_step=3040/"
     "global_step=1520, RunningAvgSamplesPerSec=41.2, CurrSamplesPerSec=41.9, MemAllocated=20.1GB",
     What::step, "DeepSpeed", 1520, 0, 0, ""},
    {"DeepSpeed's pipelines", "steps: 40 loss: 6.9123 iter time (s): 0.402 samples/sec: 79.6",
     What::step, "DeepSpeed", 40, 0, 0.402, "6.9123"},
    {"a script's epochs", "Epoch 3/16", What::step, "script", -1, 0, 0, ""},
    {"a script that counts samples in an epoch", "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300039",
     What::step, "script", 640, 60000, 0, "2.300039"},
    {"a script that counts in brackets", "[Epoch 2][Iter 100/500] train_loss 0.71, lr 0.1",
     What::step, "script", 100, 500, 0, ""},
    {"a script that counts iterations", "iter 1200: loss 2.3412, time 140.23ms, mfu 31.20%",
     What::step, "script", 1200, 0, 0, "2.3412"},
    {"a script behind a stamp and a level",
     "2026-03-05 02:31:07,123 - train - INFO - Step 100 of 5000 | Loss=0.31", What::step, "script",
     100, 5000, 0, "0.31"},
    {"a script behind a level and its logger's name",
     "INFO trainer [rank 3/8] step   40 loss 2.2917 time 0.005s", What::step, "script", 40, 0, 0,
     "2.2917"},
    {"the level alone", "INFO:__main__:Step 100 | loss 2.31", What::step, "script", 100, 0, 0,
     "2.31"},
    {"the level behind a stamp that was taken off", "- INFO - step 7: loss 2.31", What::step,
     "script", 7, 0, 0, "2.31"},
    {"a script's rate", "Iter #89: 434.6 img/sec per GPU", What::step, "script", 89, 0, 0, ""},
    {"the HF Trainer",
     "{'loss': 2.3141, 'grad_norm': 0.51, 'learning_rate': 4.5e-05, 'epoch': 0.42}", What::loss,
     "HF Trainer", -1, 0, 0, "2.3141"},
    {"which quotes its numbers now",
     "{'loss': '2.3141', 'grad_norm': '0.51', 'learning_rate': '4.5e-05', 'epoch': '0.42'}",
     What::loss, "HF Trainer", -1, 0, 0, "2.3141"},
    {"its bar", " 38%|###8      | 1520/4000 [1:46:24<2:53:36,  4.20s/it]", What::bar, "", 1520,
     4000, 4.2, ""},
    {"torchtitan",
     "[titan] 2026-03-05 02:31:07,123 - root - INFO - step: 1520  loss:  2.2135  grad_norm: 0.31  "
     "memory: 61.22GiB(77.31%)  tps: 6,211  tflops: 364.1  mfu: 36.82%",
     What::step, "torchtitan", 1520, 0, 0, "2.2135"},
    {"MaxText",
     "completed step: 1520, seconds: 4.203, TFLOP/s/device: 198.2, Tokens/s/device: 3898.1, "
     "total_weights: 4194304, loss: 2.213",
     What::step, "MaxText", 1520, 0, 4.203, "2.213"},
    {"a save of Megatron-LM's",
     "saving checkpoint at iteration    1500 to /ckpt in torch_dist format", What::save_begins,
     "Megatron-LM", 1500, 0, 0, ""},
    {"and of forks", "global rank 7 is saving checkpoint at iteration    1500 to /ckpt/x.pt",
     What::save_begins, "Megatron-LM", 1500, 0, 0, ""},
    {"its end", "  successfully saved checkpoint from iteration    1500 to /ckpt", What::save_ends,
     "Megatron-LM", 1500, 0, 0, ""},
    {"a save of the trainer's",
     "[INFO|trainer.py:3984] 2026-03-05 02:31:07,123 >> Saving model checkpoint to "
     "/out/checkpoint-1500",
     What::save_begins, "HF Trainer", 1500, 0, 0, ""},
    {"an evaluation of MaxText's", "Completed eval after train step 1500, loss=2.31",
     What::evaluated, "MaxText", 1500, 0, 0, ""},
    {"the end", "{'train_runtime': 812.4, 'train_loss': 1.99, 'epoch': 3.0}", What::ended,
     "HF Trainer", -1, 0, 0, ""},
    {"Lightning's end", "`Trainer.fit` stopped: `max_steps=500` reached.", What::ended, "", -1, 0,
     0, ""},
};

TEST(TrainingLine, EachFrameworksLineSaysItsStepItsTimeAndItsLoss) {
  for (const Case& it : kCases) {
    SCOPED_TRACE(it.why);
    ASSERT_TRUE(may_be_training_line(it.text));
    const auto line = read_training_line(it.text);
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->what, it.what);
    EXPECT_EQ(line->tool, it.tool);
    EXPECT_EQ(line->step, it.step);
    EXPECT_EQ(line->of, it.of);
    EXPECT_NEAR(line->seconds.value_or(0), it.seconds, 1e-9);
    EXPECT_EQ(line->loss, it.loss);
    EXPECT_FALSE(line->not_a_number);
  }
}

TEST(TrainingLine, OfALineThatIsCutOffNoNumberIsReadThatMayGoOn) {
  for (const Case& it : kCases) {
    SCOPED_TRACE(it.why);
    for (std::size_t size = 0; size < it.text.size(); ++size) {
      const auto line = read_training_line(std::string_view(it.text).substr(0, size), true);
      if (!line) continue;
      EXPECT_TRUE(line->step == it.step || line->step == -1) << size;
      EXPECT_TRUE(line->loss.empty() || line->loss == it.loss) << size;
      EXPECT_NEAR(line->seconds.value_or(it.seconds), it.seconds, 1e-9) << size;
    }
  }
}

TEST(TrainingLine, TheLabelOfAScriptSaysWhichRankItIsAndOfHowMany) {
  struct Labelled {
    const char* text;
    int rank;
    int ranks;
  };
  for (const Labelled& it : {
           Labelled{"INFO trainer [rank 3/8] step 40 loss 2.2917", 3, 8},
           Labelled{"[Rank 0] step 40 loss 2.2917", 0, 0},
           Labelled{"[RANK=5] Epoch 2 step 40/90 loss 2.2917", 5, 0},
           Labelled{"[rank 3 of 8] step 40 loss 2.2917", 3, 8},
           Labelled{"[2026-03-05 02:31:07] [rank:7] iter 12: loss 2.3", 7, 0},
           Labelled{"[ranking 3] step 40 loss 2.2917", -1, 0},
           Labelled{"[rank 8/8] step 40 loss 2.2917", -1, 0},
           Labelled{"[rank 3/8 of node 2] step 40 loss 2.2917", -1, 0},
           Labelled{"[rank 99999999] step 40 loss 2.2917", -1, 0},
       }) {
    SCOPED_TRACE(it.text);
    const auto line = read_training_line(it.text);
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->rank, it.rank);
    EXPECT_EQ(line->ranks, it.ranks);
  }
}

TEST(TrainingLine, ThePartsOfAStepAreWhatTheRankDidAndWhatItWaitedFor) {
  for (const char* text : {
           "step 3 fwd_bwd 901.9 ms allreduce 30.9 ms",
           "step 3: data=1.9ms, forward=600ms, backward: 300ms, grads-sync: 0.0309 s",
           "step 3 | compute 0.9019s | comm 30900us | loss 2.31",
       }) {
    SCOPED_TRACE(text);
    const auto line = read_training_line(text);
    ASSERT_TRUE(line && line->parts);
    EXPECT_NEAR(line->parts->work, 0.9019, 1e-9);
    EXPECT_NEAR(line->parts->wait, 0.0309, 1e-9);
  }
  for (const char* text :
       {"step 3 loss 2.31 time 0.9s", "step 3 loss 2.31 fwd 901 ms",
        "step 3 loss 2.31 allreduce 901 ms", "step 3 loss 2.31 fwd 9 comm 8",
        "step 3 loss 2.31 fwd 9 msg comm 8 sizes", "step 3 loss 2.31 metadata 901 ms commit 8 ms",
        "step 3 loss 2.31 fwd 901 ms async_allreduce 8 ms",
        "step 3 loss 2.31 download 901 ms recv_request 8 ms",
        "step 3 loss 2.31 fwd 901 ms data_wait 8 ms data_sync 7 ms"}) {
    SCOPED_TRACE(text);
    const auto line = read_training_line(text);
    ASSERT_TRUE(line.has_value());
    EXPECT_FALSE(line->parts.has_value());
  }
  EXPECT_FALSE(read_training_line("step 3 loss 2.31 fwd 901 ms comm 8 ms", true)->parts);
}

TEST(TrainingLine, ALossThatIsNoNumberIsTold) {
  for (const std::string text : {
           "Step 100 of 5000 | Loss=nan",
           "iteration 12/ 90 | elapsed time per iteration (ms): 4.1 | lm loss: NAN | grad norm: "
           "nan |",
           "iteration 12/ 90 | elapsed time per iteration (ms): 4.1 | lm loss: INF |",
           "{'loss': nan, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.01}",
           "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.01}",
           "step: 12  loss:  nan  memory: 61.22GiB(77.31%)  tps: 6,211  mfu: 36.82%",
           "completed step: 12, seconds: 4.203, TFLOP/s/device: 198.2, loss: nan",
       })
    EXPECT_TRUE(read_training_line(text).value().not_a_number) << text;
  // The loss scaler skips a step now and then; that is usual.
  EXPECT_FALSE(read_training_line("{'loss': 2.1, 'grad_norm': nan, 'learning_rate': 5e-05, "
                                  "'epoch': 0.01}")
                   ->not_a_number);
}

TEST(TrainingLine, WhatLooksAlikeIsNoStep) {
  for (const char* text : {
           "INFO test: step 3 loss nan",
           "INFO engine batch 12: 320 tokens/s",
           "INFO loader batch 3 data 900 ms recv 5 ms",
           "",
           "[",
           "[2026-03-05 02:31:07] iteration",
           "iteration over the data begins | shuffled",
           "step: build the index",
           "steps: 12",
           "step=12",
           "epoch=3",
           "Epoch 3 begins",
           "Training epochs, hours and other things",
           "{'loss': 'mse', 'optimizer': 'adam'}",
           "{'loss': 2.31}",
           "100%|##########",
           "Map: 100%|##########| 120/120 [00:01<00:00, 88.1it/s]",
           " 38%|###8      | 4001/4000 [1:46:24<2:53:36,  4.20s/it]",
           "2026-03-05 02:31:07 - a - b",
           "completed step: download",
           "Step 3/12 : RUN make",
           "Step 3: start the server",
           "Epoch 4/3",
           "Epochs 3/16",
           "Batch 7 of the mails was sent",
           "iteration",
       })
    EXPECT_FALSE(read_training_line(text).has_value()) << text;
}

// Reads line by line, and after some of them saves the state and restores it.
std::vector<DocumentReading> told_of(const std::vector<std::string>& lines, std::size_t saved_after,
                                     bool by_an_older_version) {
  std::vector<DocumentReading> readings;
  auto steps = make_training_steps();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == saved_after) {
      SavedBytesWriter saved;
      steps->save(saved);
      std::string bytes = saved.take();
      // An older version has no ranks and no parts of a step: three empty numbers at the end.
      if (by_an_older_version) bytes.resize(bytes.size() - 3);
      steps = make_training_steps();
      SavedBytesReader reader(bytes);
      steps->restore(reader);
      EXPECT_TRUE(reader.ok() && reader.at_end());
    }
    steps->feed({.text = lines[i], .whole = lines[i], .number = i + 1}, readings);
  }
  steps->finish(readings);
  return readings;
}

TEST(TrainingSteps, SavedByAnOlderVersionAreTheSame) {
  std::vector<std::string> plain;
  for (int step = 0; step < 12; ++step)
    plain.push_back("step " + std::to_string(step) + " loss 2.31");
  const auto texts = [](const std::vector<DocumentReading>& readings) {
    std::vector<PartReport> reports;
    for (const DocumentReading& each : readings)
      reports.push_back(std::get<PartReport>(each.reading.fact));
    return reports;
  };
  const auto whole = texts(told_of(plain, plain.size(), false));
  for (std::size_t after = 1; after < plain.size(); ++after) {
    EXPECT_EQ(texts(told_of(plain, after, true)), whole) << after;
    EXPECT_EQ(texts(told_of(plain, after, false)), whole) << after;
  }
  std::vector<std::string> labelled;
  for (int step = 0; step < 12; ++step)
    labelled.push_back("[rank 1/4] step " + std::to_string(step) + " fwd 9 ms comm 8 ms");
  const auto all = texts(told_of(labelled, labelled.size(), false));
  for (std::size_t after = 1; after < labelled.size(); ++after)
    EXPECT_EQ(texts(told_of(labelled, after, false)), all) << after;
}

TEST(TrainingSteps, PartsThatTakeLongerThanAnyStepAreAsLongAsTheLongest) {
  std::string parts;
  for (int i = 0; i < 20'000; ++i) parts += "fwd 999999999 s ";
  std::vector<std::string> lines;
  for (int step = 1; step <= 6; ++step)
    lines.push_back("step " + std::to_string(step) + " " + parts + "allreduce 1 ms loss: 1");
  const auto readings = told_of(lines, lines.size(), false);
  ASSERT_FALSE(readings.empty());
  const auto& report = std::get<PartReport>(readings.back().reading.fact);
  EXPECT_EQ(value_of(report.values, "work seconds"), "1e+06");
  EXPECT_EQ(value_of(report.values, "wait seconds"), "0.001");
}

TEST(TrainingSteps, OfManyBarsOnOneLineTheFirstAreRead) {
  const auto step_after = [](int bars) {
    std::string line;
    for (int step = 1; step <= bars; ++step)
      line += "Epoch 0:  50%|##   | " + std::to_string(step) + "/20000 [00:05<00:05,  1.00it/s]";
    const auto readings = told_of({line}, 1, false);
    if (readings.empty()) return std::string();
    const auto& report = std::get<PartReport>(readings.back().reading.fact);
    return std::string(value_of(report.values, "step"));
  };
  EXPECT_EQ(step_after(10), "10");
  EXPECT_EQ(step_after(64), "64");
  EXPECT_EQ(step_after(20'000), "64");
}

}  // namespace
}  // namespace faultline
