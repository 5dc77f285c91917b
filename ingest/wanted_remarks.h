// WantedRemarks: makes remarks of lines that give no fact, but for which a signature asks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingest/unwrap.h"
#include "model/facts/remark.h"
#include "model/noteworthy.h"
#include "parsers/nccl/nccl_line.h"

namespace faultline {

class WantedRemarks {
 public:
  explicit WantedRemarks(std::shared_ptr<const Noteworthy> noteworthy)
      : noteworthy_(std::move(noteworthy)) {}

  // Nothing: no signature asks for the line.
  std::optional<Remark> of_nccl(const NcclLine& line) const;
  std::optional<Remark> of(const Message& message, std::string_view dialect) const;

  // The warning joined with the lines that follow it, if a signature knows the whole and not its
  // beginning alone. The line may have been broken within a word or between two.
  std::optional<std::string> completed(const Remark& warning,
                                       std::span<const std::string> more) const;

  // Whether a signature knows the remark as it stands.
  bool knows(const Remark& remark) const { return !noteworthy_ || noteworthy_->knows(remark); }

  // See Noteworthy::hides.
  bool hides(std::string_view line, bool is_cut, OpenSecret& open, std::string& hidden) const {
    return noteworthy_ && noteworthy_->hides(line, is_cut, open, hidden);
  }

  // What a line is that no parser knows.
  struct Unclaimed {
    std::optional<Remark> remark;
    bool is_of_kernel = false;  // whether or not a signature asks for it
    bool is_of_torch = false;
    bool is_of_nccl = false;
  };
  Unclaimed unclaimed(const Message& message) const;

  // The trouble that a line shows which no parser and no signature knows.
  TroubleKind trouble_in(const Message& message) const;

 private:
  std::optional<Remark> of_kernel(const Message& message) const;
  std::optional<Remark> of_bare_nccl(const Message& message) const;

  std::shared_ptr<const Noteworthy> noteworthy_;
};

}  // namespace faultline
