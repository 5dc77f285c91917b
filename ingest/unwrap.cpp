// The layers, and the order in which they are looked for. Each has its own file in ingest/unwrap/.
#include "ingest/unwrap.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "ingest/unwrap/container.h"
#include "ingest/unwrap/dmesg_json.h"
#include "ingest/unwrap/escapes.h"
#include "ingest/unwrap/heading.h"
#include "ingest/unwrap/journal_export.h"
#include "ingest/unwrap/journal_json.h"
#include "ingest/unwrap/kernel.h"
#include "ingest/unwrap/labels.h"
#include "ingest/unwrap/launcher.h"
#include "ingest/unwrap/month_names.h"
#include "ingest/unwrap/nccl_prefix.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/shipper_json.h"
#include "ingest/unwrap/syslog.h"
#include "ingest/unwrap/torch_header.h"

namespace faultline {

namespace {

// Real lines have five layers at most.
constexpr int kMaxLayers = 16;

// A line can hold lines (a record of several, a progress bar's carriage returns), and those again.
constexpr int kMaxNesting = 4;

// A progress bar may draw itself many times; what it draws is not worth more than this.
constexpr std::size_t kMaxInnerLines = 4096;

// Machines whose clock was not set yet are in 1970 or in 2000.
constexpr Timestamp kNoClockYet = std::chrono::sys_days{std::chrono::year{2005} / 1 / 1};

// A stamp may lie a month after the last line that has a year. So while there is no such line, the
// reference lies a month before the receipt: then no stamp lies well after that.
constexpr std::chrono::days kNotAfterReceipt{30};

// The formats of save().
constexpr std::int64_t kFormatWithoutDate = 1;
constexpr std::int64_t kFormatWithoutLabels = 2;
constexpr std::int64_t kFormatWithoutHeading = 3;
constexpr std::int64_t kFormat = 4;

Step stepped(bool peeled) { return peeled ? Step::peeled : Step::not_mine; }

}  // namespace

class Unwrapper::Impl {
 public:
  explicit Impl(Timestamp received)
      : received_(received), undated_(received - kNotAfterReceipt), reference_(undated_) {}

  std::span<const Message> unwrap(std::string_view line);
  std::span<const Message> finish();
  void saw_date(Timestamp date) {
    if (may_be_now(date)) reference_ = date;
  }
  void passed(std::uint64_t lines) { heading_.pass(lines); }
  void learn_label(std::string_view label) { labels_.learn(label); }
  bool in_document() const { return export_.in_record() || dmesg_json_.in_document(); }
  bool passes_blank_lines() const {
    return !in_document() && !after_kmsg_record_ && heading_.empty();
  }
  std::string save() const;
  void restore(std::string_view bytes);

 private:
  // Peels until nothing matches and gives what is left, unless a layer keeps it.
  void read(Peeled line, int nesting);
  Step peel(Peeled& line, int nesting);
  Step peel_at_bracket(Peeled& line);
  Step peel_at_digit(Peeled& line);
  Step peel_at_brace(Peeled& line, int nesting);
  Step peel_records(Peeled& line, int nesting);
  Step peel_at_blank(Peeled& line, int nesting);
  Step peel_at_letter(Peeled& line);
  Step peel_in_kernel(Peeled& line);
  Step feed_dmesg_json(Peeled& line);

  Timestamp reference_for(const Peeled& line) const;
  void give(const Peeled& line, int nesting);
  void give_inner_lines(const Peeled& line, int nesting);
  void give_export_record();
  void leave_dmesg_json();
  bool feed_export(std::string_view line);
  bool at_rest() const;

  // Certificates and leases have dates, too, but the line itself was not written in the future.
  bool may_be_now(Timestamp date) const {
    const bool is_too_late =
        received_ != Timestamp{} && date > received_ + kNotAfterReceipt;  // {}: not known
    return date > kNoClockYet && !is_too_late;
  }

  const Timestamp received_;
  const Timestamp undated_;  // the reference while no line had a year
  Timestamp reference_;
  TextPool pool_;
  JsonText json_;
  std::vector<Message> messages_;

  // What is remembered between lines.
  Pieces pieces_;
  JournalExport export_;
  DmesgJson dmesg_json_;
  RelativeStamps relative_;
  HostLabels labels_;
  Heading heading_;
  bool after_kmsg_record_ = false;

  // About the line in hand.
  bool kmsg_record_before_ = false;
  bool in_dmesg_json_ = false;
};

std::span<const Message> Unwrapper::Impl::unwrap(std::string_view line) {
  messages_.clear();
  pool_.clear();
  heading_.next_line();
  kmsg_record_before_ = std::exchange(after_kmsg_record_, false);
  in_dmesg_json_ = false;
  if (!feed_export(line)) {
    Peeled whole;
    whole.text = line;
    if (heading_.tell(whole)) whole.host = pool_.copy(whole.host);  // the heading may change
    read(whole, 0);
  }
  if (dmesg_json_.in_document() && !in_dmesg_json_) leave_dmesg_json();
  return messages_;
}

// True: the line belongs to an export record.
bool Unwrapper::Impl::feed_export(std::string_view line) {
  Step step = export_.feed(line);
  if (step == Step::not_mine && export_.in_record()) {
    give_export_record();
    step = export_.feed(line);
  }
  if (step == Step::peeled) give_export_record();
  return step != Step::not_mine;
}

void Unwrapper::Impl::give_export_record() {
  Peeled line;
  if (export_.take().give(line, pool_)) read(line, 0);
}

void Unwrapper::Impl::read(Peeled line, int nesting) {
  line.text = without_control_bytes(line.text, pool_);
  for (int layer = 0; layer < kMaxLayers; ++layer) {
    const Step step = peel(line, nesting);
    if (step == Step::held) return;
    if (step == Step::not_mine) break;
  }
  give(line, nesting);
}

// Peels one layer, which its first byte shows in most cases.
Step Unwrapper::Impl::peel(Peeled& line, int nesting) {
  if (line.text.empty()) return Step::not_mine;
  if (line.in_kernel) return peel_in_kernel(line);
  if (dmesg_json_.in_document()) {
    const Step step = feed_dmesg_json(line);
    if (step != Step::not_mine) return step;
  }
  const char first = line.text.front();
  switch (first) {
    case '[':
      return peel_at_bracket(line);
    case '{':
      return peel_at_brace(line, nesting);
    case '"':
      return feed_dmesg_json(line);
    case '<':
      return stepped(peel_priority(line));
    case '(':
      return stepped(peel_ray(line));
    case '>':
      return stepped(take(line.text, "> "));
    case '%':
    case '*':
      return stepped(peel_switch(line, reference_for(line)));
    case '/':
    case '.':
      return stepped(peel_grep(line));
    case ' ':
    case '\t':
      return peel_at_blank(line, nesting);
    default:
      if (is_digit(first)) return peel_at_digit(line);
      return is_letter(first) || first < 0 ? peel_at_letter(line) : Step::not_mine;
  }
}

Step Unwrapper::Impl::peel_at_bracket(Peeled& line) {
  return stepped(peel_kernel_stamp(line) || peel_torch_label(line) ||
                 peel_open_mpi_pieces(line, pool_) || peel_hydra(line) ||
                 peel_kubectl_prefix(line) || peel_c10_header(line, reference_for(line)) ||
                 peel_python_log_header(line) || peel_bracketed_stamp(line) ||
                 relative_.peel(line, reference_for(line)));
}

Step Unwrapper::Impl::peel_at_digit(Peeled& line) {
  if (peel_kmsg_record(line, pool_)) {
    after_kmsg_record_ = true;
    return Step::peeled;
  }
  const Step step = peel_cri(line, pieces_, pool_);
  if (step != Step::not_mine) return step;
  return stepped(peel_iso_stamp(line) || peel_srun_label(line) || peel_rfc5424(line) ||
                 peel_unix_stamp(line) || peel_seconds_of_notebook(line) || peel_talos(line) ||
                 (may_begin_with_month(line.text) && peel_bsd_syslog(line, reference_for(line))) ||
                 peel_line_number(line) || peel_grep(line) || labels_.peel(line));
}

Step Unwrapper::Impl::peel_at_brace(Peeled& line, int nesting) {
  Step step = peel_docker_json(line, json_, pieces_, pool_);
  if (step == Step::not_mine) step = peel_journal_json(line, json_, pool_);
  if (step == Step::not_mine) step = feed_dmesg_json(line);
  if (step == Step::not_mine) step = peel_records(line, nesting);
  if (step != Step::not_mine) return step;
  const std::vector<DmesgRecord> records = read_dmesg_document(line.text, json_);
  for (const DmesgRecord& record : records) {
    Peeled inner = line;
    if (record.give(inner, pool_)) read(inner, 0);  // in_kernel: it cannot hold a document again
  }
  return records.empty() ? Step::not_mine : Step::held;
}

// Peels a shipper's record, or several records on one line.
Step Unwrapper::Impl::peel_records(Peeled& line, int nesting) {
  if (!names_a_line_field(line.text)) return Step::not_mine;
  const std::vector<std::string_view> records = split_records(line.text, kMaxInnerLines);
  if (records.size() == 1) {
    Peeled record = line;
    record.text = records.front();
    const Step step = peel_shipper_json(record, json_, pool_);
    if (step != Step::not_mine) line = record;
    return step;
  }
  if (nesting >= kMaxNesting) return Step::not_mine;
  Step step = Step::not_mine;
  for (const std::string_view text : records) {
    Peeled record = line;
    record.text = text;
    if (peel_shipper_json(record, json_, pool_) == Step::not_mine) continue;
    step = Step::held;
    read(record, nesting + 1);
  }
  return step;
}

// Indentation comes off together with the layer behind it, or before a line of NCCL or NVRM. In
// other texts (tables, stack traces) it has a meaning.
Step Unwrapper::Impl::peel_at_blank(Peeled& line, int nesting) {
  if (kmsg_record_before_ && is_kmsg_dictionary(line.text)) {
    after_kmsg_record_ = true;
    return Step::held;
  }
  Peeled inner = line;
  take_blanks(inner.text);
  Step step = peel(inner, nesting);
  if (step == Step::not_mine && (starts_like_nccl(inner.text) || inner.text.starts_with("NVRM: ")))
    step = Step::peeled;
  if (step == Step::peeled) line = inner;
  return step;
}

Step Unwrapper::Impl::peel_at_letter(Peeled& line) {
  const bool word_of_three = line.text.size() > 3 && line.text[3] == ' ';
  if ((may_begin_with_month(line.text) && peel_bsd_syslog(line, reference_for(line))) ||
      (word_of_three && (peel_open_mpi_stamp(line) || peel_weekday_stamp(line))))
    return Step::peeled;
  if (is_pstore_header(line.text) || heading_.begin_wall(line.text, reference_for(line)))
    return Step::held;
  return stepped(peel_facility(line) || peel_named_priority(line) || peel_cloud_severity(line) ||
                 peel_talos(line) || peel_mpich_error(line) || peel_mpi_abort(line) ||
                 peel_kernel_tag(line) || peel_repeated(line) || peel_handmade(line) ||
                 peel_glog_header(line, reference_for(line)) ||
                 peel_vllm_header(line, reference_for(line)) || peel_python_level(line) ||
                 peel_grep(line) || labels_.peel(line));
}

// Around a kernel's message there are no layers but the kernel's own.
Step Unwrapper::Impl::peel_in_kernel(Peeled& line) {
  const bool stamped = line.time.uptime_us.has_value();
  if (!stamped && (peel_kernel_stamp(line) || relative_.peel(line, reference_for(line))))
    return Step::peeled;
  return stepped(peel_repeated(line) || peel_host_after_uptime(line));
}

Step Unwrapper::Impl::feed_dmesg_json(Peeled& line) {
  const Step step = dmesg_json_.feed(line, json_, pool_);
  if (step != Step::not_mine) in_dmesg_json_ = true;
  return step;
}

// A stamp with a year, of the same line or the last one before it, shows the year better than the
// time at which the source was read or written: files are copied.
Timestamp Unwrapper::Impl::reference_for(const Peeled& line) const {
  const bool tells = line.time.known() && !line.year_assumed && may_be_now(*line.time.wall());
  return tells ? *line.time.wall() : reference_;
}

void Unwrapper::Impl::give(const Peeled& line, int nesting) {
  reference_ = reference_for(line);
  const bool one_line = line.text.find('\r') == std::string_view::npos &&
                        line.text.find('\n') == std::string_view::npos;
  if (!one_line && nesting < kMaxNesting) return give_inner_lines(line, nesting + 1);
  if (const std::size_t glued = find_glued_torch_line(line.text);
      glued != std::string_view::npos && nesting < kMaxNesting) {
    Peeled front = line;
    front.text = line.text.substr(0, glued);
    give(front, kMaxNesting);
    Peeled back = line;
    back.text = line.text.substr(glued);
    return read(back, nesting + 1);
  }
  Peeled said = line;
  heading_.read(said);
  messages_.push_back({.text = said.text,
                       .host = said.host,
                       .time = said.time,
                       .rank = said.rank,
                       .pid = said.pid,
                       .repeated = said.repeated,
                       .from_user_space = said.from_user_space,
                       .from_kernel = said.in_kernel && !said.from_user_space,
                       .is_remark = said.is_remark,
                       .program = said.program});
}

void Unwrapper::Impl::give_inner_lines(const Peeled& line, int nesting) {
  std::string_view rest = line.text;
  for (std::size_t count = 1; !rest.empty(); ++count) {
    Peeled inner = line;
    const bool too_many = count == kMaxInnerLines;  // the rest stays one text
    const std::size_t end = too_many ? rest.size() : rest.find_first_of("\r\n");
    inner.text = rest.substr(0, end);
    rest.remove_prefix(std::min(inner.text.size() + 1, rest.size()));
    std::string_view visible = inner.text;
    take_blanks(visible);
    if (!visible.empty()) read(inner, too_many ? kMaxNesting : nesting);
  }
}

std::span<const Message> Unwrapper::Impl::finish() {
  messages_.clear();
  pool_.clear();
  if (export_.in_record()) give_export_record();
  if (dmesg_json_.in_document()) leave_dmesg_json();
  // A piece can hold a piece of an inner layer.
  for (int layer = 0; layer < kMaxNesting && !pieces_.empty(); ++layer) {
    pieces_.finish([this](Peeled line) {
      line.host = pool_.copy(line.host);
      line.text = pool_.copy(line.text);
      read(line, 0);
    });
  }
  pieces_ = {};
  return messages_;
}

void Unwrapper::Impl::leave_dmesg_json() {
  Peeled line;
  if (dmesg_json_.take().give(line, pool_)) read(line, 0);
}

bool Unwrapper::Impl::at_rest() const {
  return pieces_.empty() && !export_.in_record() && !dmesg_json_.in_document() &&
         relative_.minute_us < 0 && labels_.empty() && heading_.empty() && !after_kmsg_record_ &&
         reference_ == undated_;
}

std::string Unwrapper::Impl::save() const {
  if (at_rest()) return {};
  SavedWriter saved;
  saved.number(kFormat);
  pieces_.save(saved);
  export_.save(saved);
  dmesg_json_.save(saved);
  saved.number(relative_.minute_us);
  saved.number(relative_.passed_us);
  saved.number(after_kmsg_record_ ? 1 : 0);
  saved.number(reference_ == undated_ ? 0 : 1);
  if (reference_ != undated_) saved.number(reference_.time_since_epoch().count());
  labels_.save(saved);
  heading_.save(saved);
  return saved.take();
}

void Unwrapper::Impl::restore(std::string_view bytes) {
  SavedReader saved(bytes);
  reference_ = undated_;
  const std::int64_t format = saved.number();
  if (format >= kFormatWithoutDate && format <= kFormat) {
    pieces_.restore(saved);
    export_.restore(saved);
    dmesg_json_.restore(saved);
    relative_.minute_us = saved.number();
    relative_.passed_us = saved.number();
    after_kmsg_record_ = saved.number() != 0;
    if (format > kFormatWithoutDate && saved.number() != 0)
      reference_ = Timestamp(Timestamp::duration(saved.number()));
    if (format > kFormatWithoutLabels) labels_.restore(saved);
    if (format > kFormatWithoutHeading) heading_.restore(saved);
    if (saved.ok() && saved.at_end()) return;
  }
  // Nothing was saved, or these bytes are not ours.
  pieces_ = {};
  export_ = {};
  dmesg_json_ = {};
  relative_ = {};
  labels_ = {};
  heading_ = {};
  after_kmsg_record_ = false;
  reference_ = undated_;
}

Unwrapper::Unwrapper(Timestamp received) : impl_(std::make_unique<Impl>(received)) {}
Unwrapper::~Unwrapper() = default;
Unwrapper::Unwrapper(Unwrapper&&) noexcept = default;
Unwrapper& Unwrapper::operator=(Unwrapper&&) noexcept = default;

std::span<const Message> Unwrapper::unwrap(std::string_view line) { return impl_->unwrap(line); }
void Unwrapper::saw_date(Timestamp date) { impl_->saw_date(date); }
void Unwrapper::passed(std::uint64_t lines) { impl_->passed(lines); }
void Unwrapper::learn_label(std::string_view label) { impl_->learn_label(label); }
std::span<const Message> Unwrapper::finish() { return impl_->finish(); }
bool Unwrapper::in_document() const { return impl_->in_document(); }
bool Unwrapper::passes_blank_lines() const { return impl_->passes_blank_lines(); }
std::string Unwrapper::save() const { return impl_->save(); }
void Unwrapper::restore(std::string_view saved) { impl_->restore(saved); }

}  // namespace faultline
