#include "store/batch_codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "model/batch_bytes.h"
#include "model/bytes.h"
#include "model/call_columns.h"
#include "random_batch.h"
#include "store/error.h"

namespace faultline {
namespace {

Batch without_events(Batch batch) {
  batch.events.clear();
  return batch;
}

// The calls of `ranks` ranks that each do `steps` steps of 40 calls on one communicator. They take
// turns as in a launcher's output: mostly in order, sometimes not.
Batch training(std::size_t ranks, std::size_t steps) {
  constexpr std::uint32_t kCallsPerStep = 40;
  RandomBatches random(7);
  Batch batch;
  for (std::uint32_t s = 0; s < 12; ++s)
    batch.signatures.push_back({.function = s % 3 ? "AllReduce" : "ReduceScatter",
                                .count = 1000 + 977 * s,
                                .datatype = 7});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    batch.speakers.push_back({"node" + std::to_string(rank / 8), 4000 + rank, 0, -1});
    batch.runs.push_back({.order = rank,
                          .speaker = rank,
                          .communicator = 0x55d0c0de0000U + rank * std::uint64_t{4096},
                          .nranks = static_cast<int>(ranks),
                          .last_text = std::string(150, static_cast<char>('a' + rank % 26))});
  }
  std::vector<std::uint32_t> done(ranks);
  std::uint32_t line = 0;
  std::uint32_t offset = 0;
  for (std::size_t left = ranks * steps * kCallsPerStep; left > 0; --left) {
    std::size_t rank = random.number(ranks);
    while (done[rank] == steps * kCallsPerStep) rank = (rank + 1) % ranks;
    const std::uint32_t call = done[rank]++;
    const std::uint32_t signature = (call % kCallsPerStep) * 7 % 12;
    batch.runs[rank].calls.push_back({call, signature, line, offset});
    line += 1;
    offset += 180 + signature + (call > 15) + (call > 255) + (call > 4095);
  }
  return batch;
}

std::uint64_t calls_of(const Batch& batch) { return batch.facts() - batch.events.size(); }

TEST(BatchCodec, GivesBackAnyBatchWithoutItsEvents) {
  RandomBatches random(1);
  for (int i = 0; i < 2000; ++i) {
    const Batch batch = random.batch();
    const auto decoded = decode_batch(encode_batch(batch));
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    ASSERT_EQ(*decoded, without_events(batch)) << "batch " << i;
  }
}

TEST(BatchCodec, GivesBackTheExtremes) {
  Batch batch;
  batch.from_offset = batch.lines = UINT64_MAX;
  batch.runs.push_back({.order = UINT32_MAX,
                        .speaker = UINT32_MAX,
                        .communicator = UINT64_MAX,
                        .nranks = INT32_MIN});
  batch.runs[0].calls = {{UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                         {0, 0, 0, 0, 0},
                         {UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
  batch.runs.push_back({});
  batch.runs[1].calls = batch.runs[0].calls;
  const auto decoded = decode_batch(encode_batch(batch));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, batch);
}

TEST(BatchCodec, SpendsNothingOnOneRanksSteadySteps) {
  const Batch batch = training(1, 1000);
  const double bytes_per_call =
      static_cast<double>(encode_batch(batch).size()) / static_cast<double>(calls_of(batch));
  RecordProperty("bytes_per_call", std::to_string(bytes_per_call));
  EXPECT_LT(bytes_per_call, 0.05);
}

TEST(BatchCodec, SpendsLittleMoreThanTheTurnsOnInterleavedRanks) {
  const Batch batch = training(64, 20);
  const double bytes_per_call =
      static_cast<double>(encode_batch(batch).size()) / static_cast<double>(calls_of(batch));
  RecordProperty("bytes_per_call", std::to_string(bytes_per_call));
  EXPECT_LT(bytes_per_call, 1.5);  // six bits of it hold the random order of the ranks
}

TEST(BatchCodec, RefusesEveryBatchThatBreaksOff) {
  RandomBatches random(2);
  const std::string packed = encode_batch(random.batch());
  const std::string content = write_batch(random.batch());
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(decode_batch(packed.substr(0, size)).has_value()) << size;
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(read_batch(content.substr(0, size)).has_value()) << size;
  EXPECT_FALSE(read_batch(content + 'x').has_value());
}

TEST(BatchCodec, ReadsWhatWasStoredBeforeSubsystemsWereCounted) {
  ByteWriter out;
  out.byte(1);
  for (int i = 0; i < 6; ++i) out.number(0);
  out.byte(0);                                // the state of the source
  for (int i = 0; i < 4; ++i) out.number(0);  // dialects, speakers, signatures, runs
  const auto batch = read_batch(out.view());
  ASSERT_TRUE(batch.has_value());
  EXPECT_TRUE(batch->subsystems.empty());
}

TEST(BatchCodec, RefusesEveryFlippedBit) {
  const std::string packed = encode_batch(training(4, 2));
  for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
    std::string damaged = packed;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto decoded = decode_batch(damaged);
    // zstd's header has an unused bit.
    if (decoded.has_value()) {
      EXPECT_EQ(*decoded, training(4, 2)) << bit;
    }
  }
}

TEST(BatchCodec, RefusesSizesThatWouldTakeAllTheMemory) {
  struct Case {
    const char* why;
    void (*write)(ByteWriter&);
  };
  const auto header = [](ByteWriter& out) {
    out.byte(2);
    for (int i = 0; i < 6; ++i) out.number(0);
  };
  const Case cases[] = {
      {"dialects", [](ByteWriter& out) { out.number(UINT64_MAX); }},
      {"subsystems",
       [](ByteWriter& out) {
         out.number(0);
         out.number(UINT64_MAX);
       }},
      {"speakers",
       [](ByteWriter& out) {
         for (int i = 0; i < 2; ++i) out.number(0);
         out.number(std::uint64_t{1} << 40);
       }},
      {"signatures",
       [](ByteWriter& out) {
         for (int i = 0; i < 3; ++i) out.number(0);
         out.number(std::uint64_t{1} << 40);
       }},
      {"runs",
       [](ByteWriter& out) {
         for (int i = 0; i < 4; ++i) out.number(0);
         out.number(std::uint64_t{1} << 40);
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    ByteWriter out;
    header(out);
    c.write(out);
    EXPECT_FALSE(read_batch(out.view()).has_value());
  }
}

TEST(BatchCodec, RefusesAFrameThatUnpacksToFarMore) {
  const std::string zeros(kMaxContentBytes + 1, '\0');
  std::string bomb(ZSTD_compressBound(zeros.size()), '\0');
  bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
  const auto decoded = decode_batch(bomb);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().message, "stored batch has no sensible size");
}

TEST(BatchCodec, RefusesToEncodeWhatItWouldNotDecode) {
  Batch batch;
  batch.runs.resize(1);
  batch.runs[0].calls.resize(kMaxCallsPerBatch + 1);
  EXPECT_THROW(encode_batch(batch), StoreError);
}

}  // namespace
}  // namespace faultline
