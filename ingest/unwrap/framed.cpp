#include "ingest/unwrap/framed.h"

#include "ingest/unwrap/container.h"
#include "ingest/unwrap/kernel.h"
#include "ingest/unwrap/launcher.h"
#include "ingest/unwrap/month_names.h"
#include "ingest/unwrap/nccl_prefix.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/syslog.h"
#include "ingest/unwrap/torch_header.h"

namespace faultline {
namespace {

// Only whether something is taken off matters, not the time in it.
constexpr Timestamp kAnyTime{};

bool begins_at_bracket(Peeled& line) {
  RelativeStamps relative;
  return peel_kernel_stamp(line) || peel_torch_label(line) || peel_open_mpi(line) ||
         peel_hydra(line) || peel_kubectl_prefix(line) || peel_c10_header(line, kAnyTime) ||
         peel_python_log_header(line) || peel_bracketed_stamp(line) ||
         relative.peel(line, kAnyTime);
}

bool begins_at_digit(Peeled& line) {
  Pieces pieces;
  TextPool pool;
  return peel_kmsg_record(line, pool) || peel_cri(line, pieces, pool) != Step::not_mine ||
         peel_iso_stamp(line) || peel_rfc5424(line) || peel_unix_stamp(line) ||
         peel_seconds_of_notebook(line);
}

bool begins_at_letter(Peeled& line) {
  const bool word_of_three = line.text.size() > 3 && line.text[3] == ' ';
  if ((may_begin_with_month(line.text) && peel_bsd_syslog(line, kAnyTime)) ||
      (word_of_three && (peel_open_mpi_stamp(line) || peel_weekday_stamp(line))))
    return true;
  return is_pstore_header(line.text) || peel_facility(line) || peel_named_priority(line) ||
         peel_cloud_severity(line) || peel_mpich_error(line) || peel_mpi_abort(line) ||
         peel_glog_header(line, kAnyTime) || peel_vllm_header(line, kAnyTime) ||
         peel_python_level(line);
}

}  // namespace

bool begins_a_line(std::string_view text) {
  if (text.empty()) return false;
  if (starts_like_nccl(text)) return true;
  Peeled line;
  line.text = text;
  switch (text.front()) {
    case '[':
      return begins_at_bracket(line);
    case '{':
      return true;
    case '<':
      return peel_priority(line);
    case '(':
      return peel_ray(line);
    case '>':
      return text.starts_with("> ");
    default:
      break;
  }
  if (is_digit(text.front())) return begins_at_digit(line);
  return is_letter(text.front()) && begins_at_letter(line);
}

}  // namespace faultline
