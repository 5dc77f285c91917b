#include "ingest/wanted_remarks.h"

#include <string>

#include "ingest/dialects.h"
#include "model/kernel_frame.h"
#include "parsers/nccl/nccl_bare.h"
#include "parsers/nccl/nccl_remark.h"

namespace faultline {

std::optional<Remark> WantedRemarks::of_nccl(const NcclLine& line) const {
  if (!noteworthy_ || line.level != NcclLevel::info || line.quoted) return std::nullopt;
  const NcclMessage said = message_of(line);
  if (!noteworthy_->wants(said.text, "nccl")) return std::nullopt;
  return Remark{.dialect = "nccl",
                .level = "info",
                .place = std::string(said.place),
                .function = std::string(said.function),
                .text = std::string(said.text),
                .thread = said.thread};
}

std::optional<Remark> WantedRemarks::of(const Message& message, std::string_view dialect) const {
  if (!noteworthy_ || !noteworthy_->wants(message.text, dialect)) return std::nullopt;
  return Remark{.dialect = std::string(dialect),
                .level = {},
                .place = std::string(dialect == kSystem ? message.program : ""),
                .function = {},
                .text = std::string(message.text)};
}

// Frames of its stacks are wanted, too: they show where a kernel was that crashed or hung.
std::optional<Remark> WantedRemarks::of_kernel(const Message& message) const {
  auto remark = of(message, kKernel);
  if (!remark && noteworthy_ && (kernel_frame_in(message.text) || ends_kernel_stack(message.text)))
    remark = Remark{.dialect = std::string(kKernel),
                    .level = {},
                    .place = std::string(kKernelStack),
                    .function = {},
                    .text = std::string(message.text)};
  return remark;
}

std::optional<Remark> WantedRemarks::of_bare_nccl(const Message& message) const {
  if (!noteworthy_ || message.from_user_space) return std::nullopt;
  const BareWarning bare = bare_warning(message.text);
  const auto begin = noteworthy_->nccl_warning_in(bare.text);
  if (!begin || !may_stand_before_warning(bare.text.substr(0, *begin))) return std::nullopt;
  return Remark{.dialect = "nccl",
                .level = "warn",
                .place = std::string(bare.place),
                .function = {},
                .text = std::string(bare.text)};
}

std::optional<std::string> WantedRemarks::completed(const Remark& warning,
                                                    std::span<const std::string> more) const {
  if (!noteworthy_) return std::nullopt;
  for (const std::string_view between : {"", " "}) {
    std::string whole = warning.text;
    for (const std::string& piece : more) whole.append(between).append(piece);
    if (noteworthy_->completes(warning, whole)) return whole;
  }
  return std::nullopt;
}

TroubleKind WantedRemarks::trouble_in(const Message& message) const {
  return noteworthy_ ? noteworthy_->trouble_in(message.text) : TroubleKind::none;
}

WantedRemarks::Unclaimed WantedRemarks::unclaimed(const Message& message) const {
  if (message.from_kernel) return {.remark = of_kernel(message), .is_of_kernel = true};
  if (!noteworthy_) return {};
  if (message.from_user_space)
    if (auto remark = of(message, kSystem)) return {.remark = std::move(remark)};
  if (auto remark = of_bare_nccl(message)) return {.remark = std::move(remark), .is_of_nccl = true};
  if (auto remark = of(message, {})) return {.remark = std::move(remark)};
  auto of_torch = of(message, kTorch);
  const bool is_torchs = of_torch.has_value();
  // Nobody but a kernel prints a frame in this form, also without a stamp in front.
  if (!is_torchs && !message.from_user_space && kernel_frame_in(message.text))
    return {.remark = of_kernel(message), .is_of_kernel = true};
  if (message.from_user_space || message.rank >= 0 || !noteworthy_->reads_like_kernel(message.text))
    return {.remark = std::move(of_torch), .is_of_torch = is_torchs};
  // "INFO: task mount.nfs:11252 blocked": a kernel line may hold a word that PyTorch's signatures
  // look for.
  if (is_torchs && noteworthy_->knows(*of_torch))
    return {.remark = std::move(of_torch), .is_of_torch = true};
  auto of_kernel = of(message, kKernel);
  const bool is_kernels = of_kernel.has_value();
  return {.remark = std::move(of_kernel), .is_of_kernel = is_kernels};
}

}  // namespace faultline
