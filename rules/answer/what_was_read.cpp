#include "rules/answer/what_was_read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/detect/placed.h"

namespace faultline {
namespace {

constexpr std::size_t kMostForms = 3;

std::string whose(const std::string& dialect) {
  if (dialect == "nccl") return "NCCL";
  if (dialect == "kernel") return "the kernel";
  if (dialect == "torch") return "PyTorch";
  if (dialect == "python") return "Python";
  if (dialect == "training") return "training steps";
  return dialect;
}

std::string ranks_heard(const View& view) {
  if (view.members.empty()) return {};
  const int expected = std::max(view.roll.expected, view.roll.seen);
  return fmt::format(" ({} of {} ranks{})", view.roll.seen, expected,
                     view.got_to_work() ? "" : ", no calls");
}

}  // namespace

std::string what_was_read(const View& view) {
  std::map<std::string, std::uint64_t> by_form;
  std::uint64_t lines = 0;
  std::uint64_t known = 0;
  for (const SourceState& source : view.job.sources().all()) {
    lines += source.lines;
    known += std::min(source.recognized, source.lines);
    for (const auto& [form, count] : source.dialects) by_form[form] += count;
  }
  std::vector<std::pair<std::string, std::uint64_t>> forms(by_form.begin(), by_form.end());
  std::ranges::stable_sort(forms, std::ranges::greater(),
                           &std::pair<std::string, std::uint64_t>::second);
  if (forms.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [form, count] : forms) {
    if (parts.size() == kMostForms) break;
    parts.push_back(fmt::format("{}{} of {}{}", count,
                                parts.empty() ? (count == 1 ? " line" : " lines") : "", whose(form),
                                form == "nccl" ? ranks_heard(view) : ""));
  }
  std::string text = fmt::format("Read: {}", fmt::join(parts, ", "));
  if (lines > known) text += fmt::format("; {} of an unknown form", lines - known);
  return text + ".";
}

}  // namespace faultline
