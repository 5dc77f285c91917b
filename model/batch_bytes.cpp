#include "model/batch_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/bytes.h"
#include "model/call_columns.h"
#include "model/signature_bytes.h"
#include "model/time_bytes.h"

namespace faultline {
namespace {

// The first byte of a stored batch says which form it has.
constexpr std::uint8_t kFormWithoutSubsystems = 1;
constexpr std::uint8_t kFormWithoutCallTimes = 2;
constexpr std::uint8_t kFormWithoutLeftOut = 3;
constexpr std::uint8_t kForm = 4;

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

Error damaged_batch(std::string_view how) {
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
  out.number(batch.left_out);
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
  if (form < kFormWithoutSubsystems || form > kForm)
    return damaged_batch("has a form that this program does not know");
  Batch batch;
  batch.from_offset = in.number();
  batch.to_offset = in.number();
  batch.first_line = in.number();
  batch.lines = in.number();
  batch.recognized = in.number();
  batch.skipped = in.number();
  if (form > kFormWithoutLeftOut) batch.left_out = in.number();
  batch.end =
      static_cast<SourceEnd>(std::min(in.byte(), static_cast<std::uint8_t>(SourceEnd::closed)));
  batch.dialects = read_counts(in);
  if (form > kFormWithoutSubsystems) batch.subsystems = read_counts(in);
  batch.speakers = read_speakers(in);
  batch.signatures = read_signatures(in);
  batch.runs = read_runs(in, form > kFormWithoutCallTimes);
  if (!in.at_end()) return damaged_batch("has bytes after its end");
  return batch;
} catch (const BadBytes& error) {
  return damaged_batch(error.what());
}

}  // namespace faultline
