// Which lines are kept, as remarks, although no parser has anything to say about them. Known to
// those who know the signatures.
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
  // Of a line without a framing: whether it reads like the kernel's, as `dmesg -t` prints it.
  virtual bool reads_like_kernel(std::string_view text) const = 0;
  // Of a line without a frame: where a warning of NCCL's begins in it, as people post them.
  virtual std::optional<std::size_t> nccl_warning_in(std::string_view text) const = 0;
  // Of a line that no parser and no signature knows.
  virtual TroubleKind trouble_in(std::string_view text) const = 0;
  // Whether a signature knows it as it stands. Where nobody can tell, it waits for no more.
  virtual bool knows(const Remark&) const { return true; }
  // Whether a line holds what must not be kept: then `hidden` is the line without it. open: what
  // the line before left open; it is set for the next line. is_cut: the line may go on.
  virtual bool hides(std::string_view, bool /*is_cut*/, OpenSecret& /*open*/,
                     std::string& /*hidden*/) const {
    return false;
  }
  // Of a warning that was broken into lines: whether its beginning alone is known to no signature,
  // and this text of it is.
  virtual bool completes(const Remark& begun, std::string_view text) const = 0;
};

}  // namespace faultline
