// From the text of a line to facts in a batch: takes it out of what it is wrapped in, finds who can
// read it, and keeps what is said. Knows nothing of where lines come from.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/call_collector.h"
#include "ingest/documents.h"
#include "ingest/dump_body.h"
#include "ingest/noteworthy.h"
#include "ingest/open_warning.h"
#include "ingest/repeat_filter.h"
#include "ingest/unread_forms.h"
#include "ingest/unwrap.h"
#include "ingest/wanted_remarks.h"
#include "ingest/wrapped_rows.h"
#include "model/batch.h"
#include "parsers/nccl/nccl_form.h"
#include "parsers/nccl/nccl_line.h"
#include "parsers/parser.h"

namespace faultline {

// Whether a line has its newline; lost: nothing will follow any more.
enum class LineEnd { there, missing, lost };

class LineReader {
 public:
  LineReader(Timestamp received, std::shared_ptr<const Noteworthy> noteworthy);

  void set_boot_time(Timestamp boot_time);

  // What comes next does not go on with what came before.
  void begin_file();

  struct Read {
    bool told = false;        // a fact or a call came of it
    bool counted = false;     // among the recognized lines, or those skipped
    bool is_call = false;     // and nothing else, and nothing that is underway waits for it
    bool is_row = false;      // it is of a line that was joined, or waits for the next row
    bool waits = false;       // it does that
    bool has_joined = false;  // rows before it to a line, and maybe it
    bool has_hidden = false;  // secrets of a row or of a joined line
  };

  // counted: its beginning was read before, and the line is counted.
  Read read(const LinePlace& line, LineEnd end, bool counted);

  // Of a secret that lies over several lines.
  const OpenSecret& open_secret() const { return open_secret_; }
  void go_on_with(OpenSecret open) { open_secret_ = std::move(open); }

  // Of the line that was read last: as it may be kept.
  std::string_view without_secrets_as_read(std::string_view line) const {
    if (row_is_hidden_) return hidden_row_;
    return is_hidden_ ? std::string_view(hidden_) : line;
  }

  // The lines are rows of broken ones.
  bool is_joining() const { return rows_.is_joining(); }

  // So many calls stood here; they were read before, and are not wanted again.
  void pass_calls(std::uint64_t calls);

  // Something stood here that is not read again.
  void pass_others();

  // Blank lines need not be read: nothing that would know of them is underway.
  bool ignores_blank_lines() const {
    return !documents_.is_open() && last_warning_.line == 0 && !rows_.waits() &&
           unwrapper_.passes_blank_lines();
  }

  // What a dump or a trace tells, and no line of text.
  void keep(std::vector<DumpedFact>& facts, std::uint64_t number, std::uint64_t offset);

  // What of these bytes may be kept: a line that has not come to its end, a dump.
  std::string without_secrets(std::string_view bytes) const;

  // No line will come any more; what waited for one is read, and stands on the last.
  void close(LinePlace last);

  // The sender has paused: what waits for the next line to go on with it is told as it stands.
  void settle() { last_warning_ = {}; }

  // Before the bytes of lines that were read go away.
  void keep_texts() { calls_.keep_texts(batch_); }

  // What is being filled. Lines, offsets and ends are counted by who has the bytes.
  Batch& batch() { return batch_; }
  std::uint64_t weight() const { return weight_; }  // of its events

  // A warning that the next line may go on with stays behind, for the batch after this one.
  Batch take();

  // What it was in the midst of, between two lines. Opaque; usually empty.
  struct Memory {
    std::string rows;
    std::string wrapping;
    std::string document;
    std::string warning;

    bool empty() const {
      return rows.empty() && wrapping.empty() && document.empty() && warning.empty();
    }
  };
  Memory save() const;
  void restore(const Memory& memory);

  // Of the whole source, in the midst of whatever it is.
  UnreadForms& unread() { return unread_; }
  const UnreadForms& unread() const { return unread_; }

 private:
  void hide_secrets(LinePlace& place);
  Read read_as_it_is(const LinePlace& line, LineEnd end, bool counted);
  Read read_row(const LinePlace& place, LineEnd end, bool counted);
  Read read_joined(LinePlace place, LineEnd end);
  Read read_line(LinePlace place, LineEnd end, bool counted);
  void begin_batch();
  void keep_held(HeldEvents&& held);
  bool count_line();
  void count(std::string_view dialect);
  bool read_plain_nccl(const LinePlace& place);
  std::uint32_t frames_speaker();
  bool may_be_cut(std::string_view text) const;
  bool may_be_cut_row(std::string_view text) const;
  bool read_message(const Message& message, const LinePlace& place);
  bool ask_parsers(const Message& message, const LinePlace& place);
  bool read_behind_label(const Message& message, const LinePlace& place);
  bool read_document(const Message& message, const LinePlace& place);
  void keep_document_readings(const Message& message, const LinePlace& place);
  bool read_nccl(const Message& message, const LinePlace& place);
  void read_nccl(const NcclLine& line, const Message& message, const LinePlace& place);
  EventTime time_of(const NcclLine& line, const Message& message);
  std::uint32_t speaker_of(const NcclLine& line, const Message& message);
  void keep_nccl(const NcclLine& line, const Message& message, const LinePlace& place);
  void drop_unfinished();
  bool continue_warning(const Message& message, const LinePlace& place);
  bool waits_for_nothing(const Event& event) const;
  void forget_warning_that_ended(std::uint64_t number);
  bool tells_of_upkeep() const;
  void keep_readings(const Message& message, const LinePlace& place);
  void keep_fact(Fact&& fact, std::uint32_t speaker, const EventTime& time, const LinePlace& place);
  void add_event(Fact&& fact, std::uint32_t speaker, const EventTime& time, const LinePlace& place);
  bool keep_remark(const NcclLine& line, const Message& message, const LinePlace& place);
  void keep_remark(const Message& message, const LinePlace& place, std::string_view dialect);
  void keep_said(Remark&& remark, const Message& message, const LinePlace& place);
  bool keep_unclaimed(const Message& message, const LinePlace& place);
  void keep_trouble(const Message& message, const LinePlace& place);

  WantedRemarks wanted_;
  std::string hidden_;          // the line in hand without its secrets
  bool searched_ = false;       // the line in hand is searched for secrets
  bool is_hidden_ = false;      // and some were found
  std::string hidden_row_;      // a row by itself; joining others has hidden_ for itself
  bool row_is_hidden_ = false;  // secrets were found in it
  OpenSecret open_secret_;      // by the line before
  WrappedRows rows_;
  bool has_joined_ = false;  // rows, in this read; so the next two
  bool has_joined_this_ = false;
  bool has_hidden_ = false;
  Unwrapper unwrapper_;
  Documents documents_;
  CallCollector calls_;
  RepeatFilter repeats_;
  UnreadForms unread_;
  std::vector<Reading> readings_;
  std::vector<Fact> nccl_facts_;
  std::vector<DocumentReading> document_readings_;
  LineEnd line_end_ = LineEnd::there;  // of the line being read
  bool counted_ = false;               // see Read
  bool is_guess_ = false;              // it is made of rows that may be no line

  Batch batch_;
  // Counted here, for the batch counts by name.
  std::uint64_t nccl_lines_ = 0;
  std::uint64_t kernel_lines_ = 0;
  std::array<std::uint64_t, kNcclSubsystems> without_fact_{};

  std::string last_frame_;  // "node1:615:18953 [2] NCCL INFO " of the last plain line
  NcclLine frame_;          // the same, read
  std::uint32_t last_frames_speaker_;
  OpenWarning last_warning_;
  std::uint32_t order_ = 0;
  std::uint64_t weight_ = 0;
  std::uint64_t facts_ = 0;
  std::uint64_t calls_told_ = 0;
  std::optional<std::int64_t> boot_us_;  // told by the sender, and not passed on yet
};

}  // namespace faultline
