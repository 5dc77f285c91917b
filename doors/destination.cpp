#include "doors/destination.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace faultline {
namespace {

constexpr int kHighestRank = 10'000'000;
// Values are copied for each record, and a host stands on each line.
constexpr std::size_t kLongestLabel = 512;
// Names of sources are cut at 512 bytes, which must not take their ends.
constexpr std::size_t kLongestSourceName = 400;

std::optional<int> rank_in_label(std::string_view text) {
  int rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (rank < 0 || rank > kHighestRank) return std::nullopt;
  return rank;
}

}  // namespace

void DestinationFinder::label(std::string_view name, std::string_view value) {
  if (value.empty() || value.size() > kLongestLabel) return;
  const LabelNames::Row* row = names_->find(name);
  if (row == nullptr) return;
  if (row->slot == LabelSlot::rank && !rank_in_label(value)) return;
  // Docker says so from which of its outputs a line comes.
  if (row->slot == LabelSlot::file && (value == "stdout" || value == "stderr")) return;
  Found& found = found_[static_cast<std::size_t>(row->slot)];
  if (row->rank >= found.rank) return;
  found.rank = row->rank;
  found.value = value;
  found.of_namespace = row->of_namespace;
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

// NAME.NAMESPACE, as Kubernetes itself writes it.
std::string DestinationFinder::job_name() const {
  const Found& job = found_[static_cast<std::size_t>(LabelSlot::job)];
  const std::string& space = of(LabelSlot::space);
  return job.of_namespace && !space.empty() ? fmt::format("{}.{}", job.value, space) : job.value;
}

Destination DestinationFinder::destination() const {
  Destination destination{.job = defaults_->job, .host = defaults_->host, .rank = defaults_->rank};
  if (!defaults_->job_given && !of(LabelSlot::job).empty()) destination.job = job_name();
  if (!defaults_->host_given && !of(LabelSlot::host).empty())
    destination.host = of(LabelSlot::host);
  if (const auto rank = rank_in_label(of(LabelSlot::rank))) destination.rank = *rank;
  std::string name = source_name();
  // A path begins with a slash, but no name of a source has two in a row.
  name.erase(0, std::min(name.find_first_not_of('/'), name.size()));
  if (name.size() > kLongestSourceName) name.erase(0, name.size() - kLongestSourceName);
  destination.source =
      fmt::format("{}/{}", destination.host.empty() ? defaults_->sender : destination.host, name);
  if (destination.rank >= 0) destination.source += fmt::format("/rank{}", destination.rank);
  return destination;
}

}  // namespace faultline
