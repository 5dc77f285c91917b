// Lines of training steps among other lines: many steps give few facts, and always the same ones
// however the bytes arrive.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ingest/reader.h"
#include "model/json.h"

namespace faultline {
namespace {

std::vector<std::string> told(const Batch& batch) {
  std::vector<std::string> all;
  for (const Event& event : batch.events)
    all.push_back(
        fmt::format("{} {} {} {}", event.line, event.offset, event.text, fact_to_json(event.fact)));
  return all;
}

std::vector<std::string> read_in_pieces(std::string_view text,
                                        const std::vector<std::size_t>& cuts) {
  Cursor cursor;
  std::vector<std::string> all;
  std::size_t from = 0;
  for (const std::size_t to : cuts) {
    Reader reader(cursor, *parse_rfc3339("2026-03-10T12:00:00Z"));
    reader.feed(text.substr(from, to - from));
    reader.finish();
    const auto some = told(reader.take());
    all.insert(all.end(), some.begin(), some.end());
    cursor = reader.cursor();
    from = to;
  }
  Reader reader(cursor, *parse_rfc3339("2026-03-10T12:00:00Z"));
  reader.feed(text.substr(from));
  reader.close();
  const auto some = told(reader.take());
  all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::string clock(int second) {
  return fmt::format("2026-03-05T{:02}:{:02}:{:02}Z ", 2 + second / 3600, second / 60 % 60,
                     second % 60);
}

std::string megatron(int step, double ms = 4200) {
  return fmt::format(
      "iteration {:8}/   50000 | consumed samples: {:12} | elapsed time per iteration (ms): {:.1f} "
      "| "
      "lm loss: 2.2E+00 | number of nan iterations:   0 |\n",
      step, step * 512, ms);
}

std::string mixed() {
  std::string text = "{'loss': 9.1, 'grad_norm': 0.5, 'learning_rate': 5e-05, 'epoch': 0.01}\n";
  for (int i = 1; i <= 30; ++i) {
    text += clock(i * 4) + megatron(i, i == 20 ? 61000 : 4200);
    if (i % 10 == 0)
      text += clock(i * 4 + 1) + "saving checkpoint at iteration " + std::to_string(i) +
              " to /c\n" + clock(i * 4 + 2) +
              "  successfully saved checkpoint from iteration 1 to /c\n";
    text += fmt::format("\r {:2}%|##   | {}/90 [00:{:02}<02:00,  1.00s/it]", i, i, i);
    text += i % 7 == 0 ? "\n{'loss': nan, 'learning_rate': 5e-05, 'epoch': 0.5}\n" : "";
  }
  text += "\nTraceback (most recent call last):\n" + clock(130) + megatron(31) +
          "  File \"train.py\", line 7, in step\n    loss.backward()\nValueError: bad\n";
  for (int minute = 3; minute < 20; ++minute) text += clock(minute * 60) + "the loader waits\n";
  return text + "Epoch 2:  50%|##   | 5/10 [00:05<00:05,  1.00it/s, loss=2.1]tail without an end";
}

TEST(TrainingSteps, TheBytesMayBeCutAnywhere) {
  const std::string text = mixed();
  const auto whole = read_in_pieces(text, {});
  ASSERT_GT(whole.size(), 10U);
  for (std::size_t cut = 0; cut <= text.size(); cut += 3)
    ASSERT_EQ(read_in_pieces(text, {cut}), whole) << cut;
  std::vector<std::size_t> every;
  for (std::size_t cut = 37; cut < text.size(); cut += 37) every.push_back(cut);
  EXPECT_EQ(read_in_pieces(text, every), whole);
}

std::size_t reports_of(const std::string& text) {
  Reader reader(Cursor{}, *parse_rfc3339("2026-03-10T12:00:00Z"));
  reader.feed(text);
  reader.finish();
  EXPECT_LT(reader.cursor().carry.size(), 4000U);
  reader.close();
  return reader.take().events.size();
}

TEST(TrainingSteps, AnHourOfStepsIsOneReportAMinute) {
  std::string text;
  for (int second = 0; second < 3600; ++second) text += clock(second) + megatron(second, 1000);
  EXPECT_LT(reports_of(text), 80U);
  EXPECT_GT(reports_of(text), 50U);
}

TEST(TrainingSteps, StepsWithoutATimeAreReportedEverMoreRarely) {
  std::string text;
  for (int step = 1; step < 20'000; ++step)
    text += fmt::format("step: {}  loss:  2.21  memory: 1.2GiB(7.31%)  tps: 6,211\n", step);
  EXPECT_LT(reports_of(text), 40U);
}

TEST(TrainingSteps, ALossThatComesAndGoesAndStepsThatAllDifferAreNoReportEach) {
  std::string text;
  for (int step = 1; step < 5000; ++step)
    text += fmt::format("completed step: {}, seconds: {}, TFLOP/s/device: 1, loss: {}\n", step,
                        step % 3 == 0 ? "0.009" : "0.001", step % 2 == 0 ? "nan" : "2.1");
  EXPECT_LT(reports_of(text), 60U);
}

TEST(TrainingSteps, AReportOfAnotherToolInWhoseMidstTheyStandIsReadToItsEnd) {
  const std::string trace =
      "Traceback (most recent call last):\n  File \"train.py\", line 7, in step\n    f()\n";
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(trace + megatron(31) + "ValueError: bad sample\n");
  reader.close();
  const Batch batch = reader.take();
  ASSERT_EQ(batch.events.size(), 2U);
  EXPECT_TRUE(std::ranges::any_of(batch.events, [](const Event& event) {
    return std::holds_alternative<PythonException>(event.fact);
  }));
  EXPECT_EQ(batch.dialects.at("training"), 1U);
}

TEST(TrainingSteps, ALineThatABarWasDrawnInFrontOfIsRead) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(
      "Epoch 0:  12%|##   | 12/100 [00:12<01:28,  1.00it/s]gpu-7:4711:4712 [0] NCCL INFO Bootstrap "
      ": Using eth0:10.0.0.7<0>\n");
  reader.close();
  const Batch batch = reader.take();
  EXPECT_EQ(batch.recognized, 1U);
  EXPECT_GE(batch.events.size(), 1U);
  EXPECT_EQ(batch.dialects.count("nccl"), 1U);
}

}  // namespace
}  // namespace faultline
