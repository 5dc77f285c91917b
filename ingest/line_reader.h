// LineReader: turns the text of a line into facts in a batch. It unwraps the line, finds the parser
// that can read it, and keeps what the parser gives. It does not know where lines come from.
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
#include "ingest/open_warning.h"
#include "ingest/repeat_filter.h"
#include "ingest/unread_forms.h"
#include "ingest/unwrap.h"
#include "ingest/wanted_remarks.h"
#include "ingest/wrapped_rows.h"
#include "model/batch.h"
#include "model/noteworthy.h"
#include "parsers/nccl/nccl_form.h"
#include "parsers/nccl/nccl_line.h"
#include "parsers/parser.h"

namespace faultline {

// Whether a line has its newline. missing: it may still come. lost: nothing will follow.
enum class LineEnd { there, missing, lost };

class LineReader {
 public:
  LineReader(Timestamp received, std::shared_ptr<const Noteworthy> noteworthy);

  void set_boot_time(Timestamp boot_time);

  // The next line does not continue anything before it.
  void begin_file();

  struct Read {
    bool told = false;        // it gave a fact or a call
    bool counted = false;     // it was counted as recognized or as skipped
    bool is_call = false;     // it is a call and nothing else, and nothing underway needs it
    bool is_row = false;      // it is a row of a line that was joined, or waits for the next row
    bool waits = false;       // it waits for the next row
    bool has_joined = false;  // rows before it were joined to a line, maybe with it
    bool has_hidden = false;  // secrets in a row or a joined line were hidden
  };

  // counted: the line was counted when its beginning was read.
  Read read(const LinePlace& line, LineEnd end, bool counted);

  // The secret that the last line left open for the next.
  const OpenSecret& open_secret() const { return open_secret_; }
  void go_on_with(OpenSecret open) { open_secret_ = std::move(open); }

  // The line that was read last, in the form in which it may be kept.
  std::string_view without_secrets_as_read(std::string_view line) const {
    if (row_is_hidden_) return hidden_row_;
    return is_hidden_ ? std::string_view(hidden_) : line;
  }

  // Whether the lines are rows of wrapped lines.
  bool is_joining() const { return rows_.is_joining(); }

  // Passes over this many calls, which were read before.
  void pass_calls(std::uint64_t calls);

  // Passes over something that is not read again.
  void pass_others();

  // Whether blank lines need not be read, because nothing underway depends on them.
  bool ignores_blank_lines() const {
    return !documents_.is_open() && last_warning_.line == 0 && !rows_.waits() &&
           unwrapper_.passes_blank_lines();
  }

  // Keeps the facts of a dump or a trace, which no line of text gave.
  void keep(std::vector<DumpedFact>& facts, std::uint64_t number, std::uint64_t offset);

  // These bytes (of a line without its end, of a dump) in the form in which they may be kept.
  std::string without_secrets(std::string_view bytes) const;

  // No more lines will come: reads what waited for one, and places it on the last line.
  void close(LinePlace last);

  // The sender has paused: a warning that waits for the next line is complete as it stands.
  void settle() { last_warning_ = {}; }

  // Call it before the bytes of the lines that were read go away.
  void keep_texts() { calls_.keep_texts(batch_); }

  // The batch being filled. The caller has the bytes, so it sets the lines, the offsets and the
  // end.
  Batch& batch() { return batch_; }
  std::uint64_t weight() const { return weight_; }  // of its events

  // A warning that the next line may continue stays behind, for the next batch.
  Batch take();

  // What it remembers between two lines. Opaque; usually empty.
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

  // The forms of unread lines in the whole source.
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
  Event* cut_line_before(const Message& message, const LinePlace& place);
  bool complete_cut_line(const Message& message, const LinePlace& place);
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
  std::string hidden_row_;      // the row in hand without its secrets; a joined line has hidden_
  bool row_is_hidden_ = false;  // secrets were found in the row
  OpenSecret open_secret_;      // from the line before
  WrappedRows rows_;
  bool has_joined_ = false;  // rows were joined in this read; the next two are of this read, too
  bool has_joined_this_ = false;
  bool is_more_of_a_line_ = false;  // the row is more of a line that was cut
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
  bool is_guess_ = false;              // it is joined from rows that may not belong together

  Batch batch_;
  // Counted here, because the batch counts by name, which is slower.
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
  std::optional<std::int64_t> boot_us_;  // from the sender, and not passed on yet
};

}  // namespace faultline
