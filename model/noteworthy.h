// Noteworthy: which lines are kept as remarks although no parser makes a fact of them. Implemented
// where the signatures are known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/facts/remark.h"
#include "model/open_secret.h"

namespace faultline {

class Noteworthy {
 public:
  virtual ~Noteworthy() = default;
  // Whether some signature may know a line of this dialect: "nccl", "kernel", "system" (what the
  // programs of a host log), or empty for any other program's.
  virtual bool wants(std::string_view text, std::string_view dialect) const = 0;
  // Whether a line without a frame reads like one of the kernel, as `dmesg -t` prints it.
  virtual bool reads_like_kernel(std::string_view text) const = 0;
  // Where a warning of NCCL begins in a line without a frame, as people post such lines.
  virtual std::optional<std::size_t> nccl_warning_in(std::string_view text) const = 0;
  // The trouble that a line shows which no parser and no signature knows.
  virtual TroubleKind trouble_in(std::string_view text) const = 0;
  // Whether a signature knows the remark as it stands. By default true: it waits for no more lines.
  virtual bool knows(const Remark&) const { return true; }
  // Whether a line holds a secret: then `hidden` is the line without it. open: the secret that the
  // line before left open; it is set for the next line. is_cut: the line may go on.
  virtual bool hides(std::string_view, bool /*is_cut*/, OpenSecret& /*open*/,
                     std::string& /*hidden*/) const {
    return false;
  }
  // For a warning that was broken into lines: whether no signature knows its beginning alone, and
  // one knows `text`.
  virtual bool completes(const Remark& begun, std::string_view text) const = 0;
};

}  // namespace faultline
