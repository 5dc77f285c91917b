#include "rules/picture/read/sayings.h"

#include <cstdint>
#include <string_view>

#include "rules/knowledge/prose.h"
#include "rules/picture/view.h"
#include "rules/state/remarks.h"

namespace faultline {
namespace {

// An NCCL error that an exception quotes means the same as in NCCL's own line, if it is about the
// rank or its host. If it is about the other end, the exception does not say whose fault it is.
std::optional<SignatureMatch> meaning_of_quote(const View& view, const TorchSaying& saying) {
  constexpr std::string_view kQuote = "; last error: ";
  const std::size_t at = saying.exception ? saying.text.find(kQuote) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  auto match = view.catalog.signatures->match(
      Remark{.dialect = "nccl", .level = "warn", .text = saying.text.substr(at + kQuote.size())});
  if (!match || match->signature->weight != Weight::cause) return std::nullopt;
  const Blames blames = match->signature->blames;
  return blames == Blames::process || blames == Blames::host ? match : std::nullopt;
}

// More lines after it show that the process went on.
bool is_near_the_end(const View& view, const LineRef& line) {
  constexpr std::uint64_t kMostLinesAfter = 20;
  return view.job.sources().at(line.source).lines <= line.line + kMostLinesAfter;
}

std::optional<SignatureMatch> matched(const View& view, const TorchSaying& saying) {
  if (auto quoted = meaning_of_quote(view, saying)) return quoted;
  auto match = view.catalog.signatures->match(Remark{.dialect = "torch", .text = saying.text});
  if (match && !saying.exception && is_talked_about(saying.text, match->begin, match->end))
    return std::nullopt;
  if (match && match->signature->marks == Marks::last_words &&
      (saying.exception || !is_near_the_end(view, saying.last)))
    return std::nullopt;
  return match;
}

}  // namespace

std::optional<SignatureMatch> meaning_of(const View& view, const TorchSaying& saying) {
  return view.meanings.of(saying, [&] { return matched(view, saying); });
}

}  // namespace faultline
