#include "store/batch_codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

#include "store/bytes.h"
#include "store/call_columns.h"
#include "store/error.h"

namespace faultline {
namespace {

// Of this form; another form would get another number and be told apart by it.
constexpr std::uint8_t kFormWithoutSubsystems = 1;
constexpr std::uint8_t kFormWithoutCallTimes = 2;
constexpr std::uint8_t kForm = 3;

// The first level already folds what the columns left regular; higher ones cost more than they
// save.
constexpr int kLevel = 1;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

void write_time(const EventTime& time, ByteWriter& out) {
  out.byte(static_cast<std::uint8_t>((time.wall_us ? 1 : 0) | (time.uptime_us ? 2 : 0) |
                                     (time.zone_assumed ? 4 : 0)));
  if (time.wall_us) out.signed_number(*time.wall_us);
  if (time.uptime_us) out.signed_number(*time.uptime_us);
  out.signed_number(time.uncertainty_us);
}

EventTime read_time(ByteReader& in) {
  EventTime time;
  const std::uint8_t has = in.byte();
  time.zone_assumed = (has & 4) != 0;
  if (has & 1) time.wall_us = in.signed_number();
  if (has & 2) time.uptime_us = in.signed_number();
  time.uncertainty_us = in.signed_number();
  return time;
}

void write_counts(const std::map<std::string, std::uint64_t>& counts, ByteWriter& out) {
  out.number(counts.size());
  for (const auto& [name, count] : counts) {
    out.text(name);
    out.number(count);
  }
}

std::map<std::string, std::uint64_t> read_counts(ByteReader& in) {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t left = in.count(2); left > 0; --left) {
    const std::string name(in.text());
    counts[name] = in.number();
  }
  return counts;
}

void write_speakers(const std::vector<Speaker>& speakers, ByteWriter& out) {
  out.number(speakers.size());
  for (const Speaker& speaker : speakers) {
    out.text(speaker.host);
    out.signed_number(speaker.pid);
    out.signed_number(speaker.device);
    out.signed_number(speaker.rank);
  }
}

std::vector<Speaker> read_speakers(ByteReader& in) {
  std::vector<Speaker> speakers(in.count(4));
  for (Speaker& speaker : speakers) {
    speaker.host = in.text();
    speaker.pid = in.signed_number();
    speaker.device = in.signed_int();
    speaker.rank = in.signed_int();
  }
  return speakers;
}

void write_signatures(const std::vector<Signature>& signatures, ByteWriter& out) {
  out.number(signatures.size());
  for (const Signature& signature : signatures) {
    out.text(signature.function);
    out.number(signature.count);
    out.signed_number(signature.datatype);
    out.signed_number(signature.operation);
    out.signed_number(signature.root);
    out.byte(
        static_cast<std::uint8_t>((signature.count_is_size ? 1 : 0) | (signature.done ? 2 : 0)));
  }
}

std::vector<Signature> read_signatures(ByteReader& in) {
  std::vector<Signature> signatures(in.count(6));
  for (Signature& signature : signatures) {
    signature.function = in.text();
    signature.count = in.number();
    signature.datatype = in.signed_int();
    signature.operation = in.signed_int();
    signature.root = in.signed_int();
    const std::uint8_t is = in.byte();
    signature.count_is_size = (is & 1) != 0;
    signature.done = (is & 2) != 0;
  }
  return signatures;
}

void write_runs(const std::vector<CallRun>& runs, ByteWriter& out) {
  out.number(runs.size());
  for (const CallRun& run : runs) {
    out.number(run.order);
    out.number(run.speaker);
    out.number(run.communicator);
    out.signed_number(run.nranks);
    write_time(run.first_time, out);
    write_time(run.last_time, out);
    out.text(run.last_text);
  }
  write_calls(runs, out);
}

std::vector<CallRun> read_runs(ByteReader& in, bool with_times) {
  std::vector<CallRun> runs(in.count(9));
  for (CallRun& run : runs) {
    run.order = in.small<std::uint32_t>();
    run.speaker = in.small<std::uint32_t>();
    run.communicator = in.number();
    run.nranks = in.signed_int();
    run.first_time = read_time(in);
    run.last_time = read_time(in);
    run.last_text = in.text();
  }
  read_calls(in, runs, with_times);
  return runs;
}

Error damaged(std::string_view how) {
  return {Error::Kind::invalid_input, fmt::format("stored batch {}", how)};
}

}  // namespace

std::string write_batch(const Batch& batch) {
  ByteWriter out;
  out.byte(kForm);
  out.number(batch.from_offset);
  out.number(batch.to_offset);
  out.number(batch.first_line);
  out.number(batch.lines);
  out.number(batch.recognized);
  out.number(batch.skipped);
  out.byte(static_cast<std::uint8_t>(batch.end));
  write_counts(batch.dialects, out);
  write_counts(batch.subsystems, out);
  write_speakers(batch.speakers, out);
  write_signatures(batch.signatures, out);
  write_runs(batch.runs, out);
  return out.take();
}

Result<Batch> read_batch(std::string_view bytes) try {
  ByteReader in(bytes);
  const std::uint8_t form = in.byte();
  if (form != kForm && form != kFormWithoutCallTimes && form != kFormWithoutSubsystems)
    return damaged("has a form this program does not know");
  Batch batch;
  batch.from_offset = in.number();
  batch.to_offset = in.number();
  batch.first_line = in.number();
  batch.lines = in.number();
  batch.recognized = in.number();
  batch.skipped = in.number();
  batch.end =
      static_cast<SourceEnd>(std::min(in.byte(), static_cast<std::uint8_t>(SourceEnd::closed)));
  batch.dialects = read_counts(in);
  if (form != kFormWithoutSubsystems) batch.subsystems = read_counts(in);
  batch.speakers = read_speakers(in);
  batch.signatures = read_signatures(in);
  batch.runs = read_runs(in, form == kForm);
  if (!in.at_end()) return damaged("goes on after its end");
  return batch;
} catch (const BadBytes& error) {
  return damaged(error.what());
}

std::string encode_batch(const Batch& batch) {
  const std::uint64_t calls = batch.facts() - batch.events.size();
  const std::string content = write_batch(batch);
  if (content.size() > kMaxContentBytes || calls > kMaxCallsPerBatch)
    throw StoreError(
        fmt::format("batch of {} calls, {} bytes is too large to store", calls, content.size()));
  std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), content.data(), content.size());
  if (ZSTD_isError(size)) throw StoreError(ZSTD_getErrorName(size));
  packed.resize(size);
  packed.shrink_to_fit();  // it may wait for its turn in the writer's queue
  return packed;
}

Result<Batch> decode_batch(std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxContentBytes)
    return damaged("has no sensible size");
  std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  std::string content(static_cast<std::size_t>(size), '\0');
  const std::size_t read = ZSTD_decompressDCtx(context.get(), content.data(), content.size(),
                                               bytes.data(), bytes.size());
  if (ZSTD_isError(read)) return damaged(ZSTD_getErrorName(read));
  if (read != size) return damaged("is shorter than it says");
  return read_batch(content);
}

}  // namespace faultline
