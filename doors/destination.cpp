#include "doors/destination.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace faultline {
namespace {

constexpr int kHighestRank = 10'000'000;

std::optional<int> rank_in_label(std::string_view text) {
  int rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (rank < 0 || rank > kHighestRank) return std::nullopt;
  return rank;
}

}  // namespace

void DestinationFinder::label(std::string_view name, std::string_view value) {
  if (value.empty()) return;
  const LabelNames::Row* row = names_->find(name);
  if (row == nullptr) return;
  if (row->slot == LabelSlot::rank && !rank_in_label(value)) return;
  Found& found = found_[static_cast<std::size_t>(row->slot)];
  if (row->rank >= found.rank) return;
  found.rank = row->rank;
  found.value = value;
}

// A stream is what one program wrote: two of them must not share a source, where their lines would
// come between each other.
std::string DestinationFinder::source_name() const {
  if (!of(LabelSlot::file).empty()) return of(LabelSlot::file);
  if (!of(LabelSlot::pod).empty()) {
    std::string name = of(LabelSlot::pod);
    if (!of(LabelSlot::space).empty()) name = fmt::format("{}/{}", of(LabelSlot::space), name);
    if (!of(LabelSlot::container).empty())
      name = fmt::format("{}/{}", name, of(LabelSlot::container));
    return name;
  }
  if (of(LabelSlot::program) == "kernel") return "kernel";
  if (!of(LabelSlot::unit).empty()) return of(LabelSlot::unit);
  if (!of(LabelSlot::container).empty()) return of(LabelSlot::container);
  if (!of(LabelSlot::program).empty()) return of(LabelSlot::program);
  return defaults_->source;
}

Destination DestinationFinder::destination() const {
  Destination destination{.job = defaults_->job, .host = defaults_->host, .rank = defaults_->rank};
  if (!defaults_->job_given && !of(LabelSlot::job).empty()) destination.job = of(LabelSlot::job);
  if (!defaults_->host_given && !of(LabelSlot::host).empty())
    destination.host = of(LabelSlot::host);
  std::string name = source_name();
  if (const auto rank = rank_in_label(of(LabelSlot::rank))) {
    destination.rank = *rank;
    name = fmt::format("{}/rank{}", name, *rank);
  }
  // A path begins with a slash, but no name of a source has two in a row.
  name.erase(0, std::min(name.find_first_not_of('/'), name.size()));
  destination.source =
      fmt::format("{}/{}", destination.host.empty() ? "unknown-host" : destination.host, name);
  return destination;
}

}  // namespace faultline
