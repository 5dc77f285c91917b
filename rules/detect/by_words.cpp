#include "rules/detect/by_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "model/pci_address.h"
#include "rules/detect/detector.h"
#include "rules/detect/torch/word_of_end.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

constexpr std::size_t kMostClasses = 2;
constexpr std::int64_t kBootUs = 60'000'000;  // drivers print many errors while a host starts

struct Hinted {
  std::size_t hint = 0;  // its place in the list of hints: a lower one says more
  Evidence line;
  EventTime time;
  std::string host;
  int rank = -1;  // whose line it is; -1: not known
};
using HintedLines = std::map<Cause, std::vector<Hinted>>;

// `known`: the class that a finding already gives the line.
void add(const View& view, Hinted line, Cause known, HintedLines& found) {
  const auto hint = view.catalog.hints->of(line.line.text);
  if (!hint) return;
  line.hint = *hint;
  const Cause cause = view.catalog.hints->all()[*hint].cause;
  if (cause != known) found[cause].push_back(std::move(line));
}

// The host was just starting, or training went on after the line: the line had no consequence.
bool came_to_nothing(const View& view, const LineRef& line, const LineRef* step) {
  const EventTime time = view.job.dated(line);
  if (time.uptime_us && *time.uptime_us < kBootUs) return true;
  return step != nullptr && step->source == line.source && step->line > line.line;
}

void add_unread(const View& view, HintedLines& found) {
  const LineRef* step = last_step(view);
  for (const auto& [form, unread] : view.job.unread_lines().all()) {
    if (came_to_nothing(view, unread.line, step)) continue;
    Hinted line{.line = view.evidence(unread.line),
                .time = view.job.dated(unread.line),
                .host = view.job.host_of(short_host(unread.speaker.host), unread.line.source),
                .rank = unread.speaker.rank};
    const Phase phase = view.phases.of({.time = line.time, .host = line.host});
    if (!is_of_another_time(phase)) add(view, std::move(line), Cause::none, found);
  }
}

void add_not_understood(const View& view, const std::vector<Finding>& observed,
                        HintedLines& found) {
  for (const Finding& finding : observed) {
    if (!is(finding.cause, Trait::not_understood) || !finding.part_of_job) continue;
    const auto& hosts = finding.subject.hosts;
    for (const Evidence& line : finding.evidence) {
      EventTime time;
      if (line.time) time = EventTime::at(*line.time);
      add(view, {.line = line, .time = time, .host = hosts.size() == 1 ? hosts.front() : ""},
          finding.cause, found);
    }
  }
}

// If a rule understands another line of this class on the same host, its finding says more.
void drop_what_is_understood(const std::vector<Finding>& observed, HintedLines& found) {
  for (const Finding& finding : observed) {
    if (is(finding.cause, Trait::not_understood)) continue;
    const auto of_its_class = found.find(finding.cause);
    if (of_its_class == found.end()) continue;
    const auto& hosts = finding.subject.hosts;
    std::erase_if(of_its_class->second, [&](const Hinted& line) {
      return hosts.empty() || line.host.empty() ||
             std::ranges::find(hosts, line.host) != hosts.end();
    });
    if (of_its_class->second.empty()) found.erase(of_its_class);
  }
}

Subject subject_of(const View& view, const Hinted& line) {
  Subject subject;
  const WordHints& hints = *view.catalog.hints;
  const WordHint& hint = hints.all()[line.hint];
  const std::string& text = line.line.text;
  if (!line.host.empty()) subject.hosts = {line.host};
  if (line.rank >= 0 && hint.names_rank) subject.ranks = {line.rank};
  if (const std::string gpu = hint.names_gpu ? hints.gpu_in(text) : ""; !gpu.empty())
    subject.gpus = {gpu_name(line.host, normal_pci(gpu).value_or(gpu))};
  if (const std::string nic = hint.names_nic ? hints.nic_in(text) : ""; !nic.empty())
    subject.nics = {gpu_name(line.host, nic)};
  return subject;
}

Suspicion suspicion_of_words(const View& view, Cause cause, const std::vector<Hinted>& lines) {
  const Hinted& first = lines.front();
  Suspicion suspicion;
  suspicion.since = first.time;
  suspicion.verdict = Verdict::unknown;
  suspicion.sure = Claim::by_its_words;
  Finding& finding = suspicion.finding;
  finding.cause = cause;
  finding.severity = Severity::warning;
  finding.count = lines.size();
  finding.title = fmt::format("{} (guessed from the words of a line that no rule reads)",
                              view.catalog.hints->all()[first.hint].about);
  begin_with_a_capital(finding.title);
  for (const Hinted& hinted : lines)
    if (finding.evidence.size() < kMostLines) finding.evidence.push_back(hinted.line);
  finding.actions.push_back(
      {.what =
           "Read the line and the lines around it. With a signature for it, Faultline will know "
           "such lines (docs/rules.md).",
       .where = first.host,
       .command = {}});
  finding.subject = subject_of(view, first);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_by_words(const View& view, const std::vector<Finding>& observed) {
  HintedLines hinted;
  add_unread(view, hinted);
  add_not_understood(view, observed, hinted);
  drop_what_is_understood(observed, hinted);
  std::vector<std::pair<std::size_t, Cause>> order;
  for (auto& [cause, lines] : hinted) {
    std::ranges::sort(lines, std::ranges::less(), [](const Hinted& it) {
      return std::tuple(it.hint, it.line.source, it.line.line);
    });
    order.emplace_back(lines.front().hint, cause);
  }
  std::ranges::sort(order);
  if (order.size() > kMostClasses) order.resize(kMostClasses);
  std::vector<Suspicion> found;
  for (const auto& [hint, cause] : order) {
    found.push_back(suspicion_of_words(view, cause, hinted.at(cause)));
    if (found.size() > 1) found.back().sure.add(Ground::other_words_tell_more);
  }
  return found;
}

}  // namespace faultline
