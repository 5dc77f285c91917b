#include "rules/detect/torch/crashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/detect/torch/caught.h"
#include "rules/detect/torch/ends.h"
#include "rules/detect/torch/word_of_end.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/limits.h"
#include "rules/knowledge/prose.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/read/exceptions.h"
#include "rules/picture/read/sayings.h"
#include "rules/picture/who/source_speakers.h"
#include "rules/state/remarks.h"

namespace faultline {
namespace {

constexpr std::size_t kMostCrashLines = 8;
constexpr std::size_t kMostTitleBytes = 240;
constexpr std::uint64_t kLinesOfOneError = 16;  // from the first line of an error to the last

using Fields = std::map<std::string, std::string, std::less<>>;

// For a pattern's group that holds only digits.
int number_in_digits(std::string_view digits) {
  int number = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::string filled(std::string text, const Fields& fields) {
  for (const auto& [name, value] : fields) {
    const std::string place = fmt::format("{{{}}}", name);
    for (std::size_t at = text.find(place); at != std::string::npos;
         at = text.find(place, at + value.size()))
      text.replace(at, place.size(), value);
  }
  return text;
}

// What a rank said, with what it means.
struct Told {
  const TorchRank* rank = nullptr;
  const TorchSaying* saying = nullptr;
  const TorchSaying* original = nullptr;  // raised in a worker process of the rank
  bool perhaps_caught = false;
  std::optional<SignatureMatch> match;
  int whose = -1;  // the rank, by its label, else by its place in the log

  const TorchSaying& telling() const { return original != nullptr ? *original : *saying; }
  Cause cause() const { return match ? match->signature->cause : Cause::software_rank_crashed; }
  bool is_echo() const { return match && faultline::is_echo(match->signature->weight); }
  bool is_notice() const { return match && match->signature->weight == Weight::notice; }
};

// The rank that the line itself names; -1: it names none.
int rank_by_words(const Told& told) {
  if (!told.match || told.match->signature->blames != Blames::process) return -1;
  const auto rank = told.match->fields.find("rank");
  return rank == told.match->fields.end() ? -1 : number_in_digits(rank->second);
}

// A possible cause that is too weak to stand for what else a rank raises.
bool is_aside(const Told& told) {
  if (!told.match || told.match->signature->weight != Weight::cause) return false;
  const MessageSignature& signature = *told.match->signature;
  return is(signature.cause, Trait::symptom) || is(signature.cause, Trait::not_understood) ||
         signature.confidence < limits::firm_enough_for_a_cause;
}

bool names_a_peer(const Told& told) { return told.match && told.match->fields.contains("rank_a"); }

// What one rank said: the first line that can be a cause, and the first that only follows from
// something; also one that names the peer that it lost.
struct Story {
  std::optional<Told> cause;
  std::vector<Told> echoes;
  std::vector<Told> asides;  // the first of each meaning

  void add_aside(Told&& told) {
    constexpr std::size_t kMostAsides = 16;
    const auto means_the_same = [&](const Told& known) {
      return known.match->signature == told.match->signature;
    };
    if (asides.size() < kMostAsides && std::ranges::none_of(asides, means_the_same))
      asides.push_back(std::move(told));
  }

  void add_echo(Told&& told) {
    if (echoes.empty() || (names_a_peer(told) && std::ranges::none_of(echoes, names_a_peer)))
      echoes.push_back(std::move(told));
  }
};

bool timed_out_before(const TorchRank& rank, const LineRef& line) {
  return std::ranges::any_of(rank.timeouts, [&](const TorchTimeout& timeout) {
    return said_order(timeout.line, line) == Order::before;
  });
}

// Where ranks first say that they were made to end, by their labelled lines.
struct FirstEchoes {
  std::map<int, const LineRef*> of_rank;
  std::map<std::uint32_t, const LineRef*> of_source;  // the first one in each source

  void add(int rank, const Told& echo) {
    if (echo.cause() != Cause::process_aborted && echo.cause() != Cause::collective_timeout) return;
    const LineRef& line = echo.saying->line;
    of_rank.try_emplace(rank, &line);
    const auto [first, is_new] = of_source.try_emplace(line.source, &line);
    if (!is_new && said_order(line, *first->second) == Order::before) first->second = &line;
  }

  const LineRef* before(const Told& told) const {
    if (told.whose >= 0) {
      const auto of = of_rank.find(told.whose);
      return of == of_rank.end() ? nullptr : of->second;
    }
    const auto of = of_source.find(told.saying->line.source);
    return of == of_source.end() ? nullptr : of->second;
  }
};

// What a rank's threads and workers raise without its label, after it was told to end, only
// follows.
bool was_ended_before(const FirstEchoes& ended, const Told& told) {
  if (!told.saying->exception || told.saying->exception->type == PythonException::kOfCpp)
    return false;
  const LineRef* end = ended.before(told);
  return end != nullptr && said_order(*end, told.saying->line) == Order::before;
}

// A rank that waits for others raises a RuntimeError if it cannot go on, whichever rank is the
// reason; wrong arguments raise another class.
bool may_be_a_peers(const View& view, const PythonException& exception) {
  if (exception.type != "RuntimeError" || exception.function.empty()) return false;
  const StackFrame frame{exception.function, exception.file};
  return std::ranges::any_of(view.catalog.frames.meanings, [&](const FrameMeaning& meaning) {
    return (meaning.wait == StackWait::collective || meaning.wait == StackWait::start) &&
           meaning.knows(frame);
  });
}

bool gave_up(const Told& told) {
  return told.match && told.match->signature->marks == Marks::gave_up;
}

// What peers print because a process ended does not give the reason of that end.
bool follows_from_an_end(const View& view, const Told& told) {
  constexpr Relation kAny[] = {Relation::same_rank, Relation::same_host, Relation::same_job,
                               Relation::same_communicator};
  const Blames blames = told.match->signature->blames;
  return (blames != Blames::process && blames != Blames::host) ||
         std::ranges::any_of(kAny, [&](Relation relation) {
           return view.catalog.explains(Cause::software_rank_crashed, told.cause(), relation);
         });
}

// The reason may follow the line that it explains: NCCL prints its own message below PyTorch's
// exception, and a program may print its error after the line that says that it ends.
bool gives_the_reason(const View& view, const Told& before, const Told& below) {
  if (!below.match || below.match->signature->weight != Weight::cause || gave_up(below))
    return false;
  const LineRef& first = before.saying->line;
  const LineRef& told = below.saying->line;
  if (told.source != first.source || told.line < first.line ||
      told.line - first.line > kLinesOfOneError)
    return false;
  if (gave_up(before))
    return !follows_from_an_end(view, below) && (below.whose < 0 || below.whose == before.whose);
  return !before.match && before.saying->exception &&
         may_be_a_peers(view, *before.saying->exception);
}

// Whether an error that is too weak to be a cause stands right before the line in which the process
// gave up.
bool gave_up_for_an_aside(const Story& story) {
  if (!story.cause || !gave_up(*story.cause)) return false;
  const LineRef& end = story.cause->saying->line;
  return std::ranges::any_of(story.asides, [&](const Told& told) {
    const LineRef& line = told.saying->line;
    return told.whose == story.cause->whose && line.source == end.source && line.line <= end.line &&
           end.line - line.line <= kLinesOfOneError;
  });
}

// These give no reason: srun also ends its step after a task that failed, and torchrun only sums
// up.
bool says_that_a_step_ended(const Told& told) {
  return told.match && (told.match->signature->id == "slurm.cancelled" ||
                        told.match->signature->id == "torch.child_failed");
}

// Finds what a unit test found wrong, and what its runner raised upon that. Takes the exceptions of
// a rank in their order.
class TestCases {
 public:
  bool is_from_a_case(const TorchSaying& saying) {
    if (!saying.exception) return false;
    const bool goes_on = from_a_case_ && saying.exception->follows && saying.line.source == source_;
    from_a_case_ = is_of_a_test_case(*saying.exception) || goes_on;
    source_ = saying.line.source;
    return from_a_case_;
  }

 private:
  bool from_a_case_ = false;  // the exception before
  std::uint32_t source_ = 0;
};

Story story_of(const View& view, const TorchCrew& crew, const SourceSpeakers& speakers,
               const CaughtExceptions& caught, const FirstEchoes& ended, const TorchRank& rank) {
  Story story;
  std::optional<Told> notice;
  bool catches = false;  // some of what it raises
  TestCases cases;
  for (const TorchSaying& saying : rank.said) {
    const bool is_from_a_case = cases.is_from_a_case(saying);
    if (!crew.in_attempt(saying.line) && !crew.in_attempt(saying.last)) continue;
    if (saying.exception && rank.rank < 0 && is_of_the_system(*saying.exception)) continue;
    if (saying.exception && caught.was_caught(rank.rank, saying)) {
      catches = true;
      continue;
    }
    Told told{.rank = &rank, .saying = &saying, .match = meaning_of(view, saying)};
    const bool is_sure = told.match && told.match->signature->weight == Weight::cause;
    told.perhaps_caught = (is_from_a_case && !is_sure) || caught.may_have_been_caught(saying);
    told.whose = rank_by_words(told);
    if (told.whose < 0) told.whose = rank.rank >= 0 ? rank.rank : speakers.rank_of(saying.line);
    if (told.match && told.match->signature->weight == Weight::harmless) continue;
    if (told.match && told.match->signature->marks == Marks::last_words &&
        (speakers.went_on(rank.rank, saying.last) || trained_on(last_step(view), saying.last) ||
         catches || (story.cause && story.cause->perhaps_caught)))
      continue;
    // The line was kept for a word in it, but says something else.
    if (!told.match && !saying.exception) continue;
    if (told.is_notice()) {
      if (!notice) notice = std::move(told);
      continue;
    }
    if (is_aside(told)) {
      story.add_aside(std::move(told));
      continue;
    }
    // A worker's own exception says better what the exception before it was about.
    const bool original = saying.exception && saying.exception->original;
    if (original && !story.echoes.empty() && story.echoes.back().saying + 1 == &saying)
      story.echoes.pop_back();
    if (original && story.cause) {
      if (story.cause->original != nullptr || !story.cause->saying->exception) continue;
      story.cause->original = &saying;
      if (told.is_echo()) {
        story.cause.reset();
        story.add_echo(std::move(told));
        continue;
      }
      if (told.match) story.cause->match = std::move(told.match);
      continue;
    }
    if (rank.rank < 0 && !is_sure && was_ended_before(ended, told)) continue;
    const bool follows = told.is_echo() || !story.echoes.empty() ||
                         (!told.match && timed_out_before(rank, saying.line));
    if (follows && !is_sure) {
      story.add_echo(std::move(told));
    } else if (!story.cause || gives_the_reason(view, *story.cause, told) ||
               (story.cause->perhaps_caught && !told.perhaps_caught)) {
      story.cause = std::move(told);
    }
  }
  if (gave_up_for_an_aside(story)) story.cause.reset();
  if (notice && !story.cause && std::ranges::all_of(story.echoes, says_that_a_step_ended))
    story.echoes.insert(story.echoes.begin(), std::move(*notice));
  return story;
}

// Equal errors of several ranks are one group.
struct CrashGroup {
  std::vector<Told> told;
  bool aside = false;

  const Told& first() const {
    return *std::ranges::min_element(told, [](const Told& a, const Told& b) {
      return said_order(a.saying->line, b.saying->line) == Order::before;
    });
  }
  std::set<int> ranks() const {
    std::set<int> all;
    for (const Told& one : told) all.insert(one.whose);
    if (all.size() > 1) all.erase(-1);  // the same rank's, without its label
    return all;
  }
  // What a rank raises is why it left its exit code, however little it blames.
  bool says_why_it_ended() const {
    return !aside || std::ranges::any_of(told, [](const Told& one) {
      return one.saying->exception.has_value() && !is(one.cause(), Trait::symptom);
    });
  }
};

// "Rank {rank}" of a title, if not exactly one rank is known.
void name_people(const TorchCrew& crew, const std::set<int>& ranks, std::string& title) {
  const bool unknown = *ranks.begin() < 0;
  if (!unknown && ranks.size() == 1) return;
  const std::string people = ranks.size() > 1 ? crew.people(ranks) : "A rank";
  std::string in_sentence = people;
  if (in_sentence.front() == 'R' || in_sentence.front() == 'A')
    in_sentence.front() = static_cast<char>(in_sentence.front() - 'A' + 'a');
  for (const auto& [word, instead] :
       {std::pair<std::string_view, std::string>{"Rank {rank}", people},
        {"rank {rank}", in_sentence}})
    if (const std::size_t at = title.find(word); at != std::string::npos)
      title.replace(at, word.size(), instead);
}

void add_lines_of_crash(const View& view, const Told& told, Finding& finding) {
  const auto add = [&](const TorchSaying& saying) {
    if (!saying.exception || saying.exception->lines.empty()) {
      if (finding.evidence.size() < kMostCrashLines)
        finding.evidence.push_back(view.evidence(saying.line));
      return;
    }
    for (const SourceLine& line : saying.exception->lines) {
      if (finding.evidence.size() == kMostCrashLines) return;
      LineRef ref = saying.line;
      ref.line = line.line;
      ref.offset = line.offset;
      ref.text = line.text;
      finding.evidence.push_back(view.evidence(ref));
    }
  };
  add(told.telling());
  if (told.original != nullptr) finding.evidence.push_back(view.evidence(told.saying->line));
}

// Whether the catalog knows its line as one where a failure begins.
bool is_known_cause(const CrashGroup& group) {
  const Told& first = group.first();
  return first.match && first.match->signature->weight == Weight::cause;
}

// The process that lines without a label are of: the only one that ended by itself. For an
// exception that C++ did not catch, which ends in an abort: the only one that aborted.
const ProcessExit* only_culprit(const View& view, const TorchCrew& crew, const CrashGroup& group) {
  constexpr int kAbort = 6;
  constexpr int kTerminated = 15;
  std::map<int, const ProcessExit*> own;
  std::map<int, const ProcessExit*> aborted;
  for (const auto& exit : view.job.torch().exits()) {
    const ProcessExit& end = exit.fact;
    if (!crew.in_attempt(exit.line) || end.told_to || end.ranks.size() != 1) continue;
    if (end.signal == kTerminated) continue;
    (end.signal == kAbort ? aborted : own).try_emplace(end.ranks.front(), &end);
  }
  const bool of_cpp = std::ranges::any_of(group.told, [](const Told& told) {
    return told.saying->exception && told.saying->exception->type == PythonException::kOfCpp;
  });
  if (of_cpp && !aborted.empty()) own.swap(aborted);
  return own.size() == 1 ? own.begin()->second : nullptr;
}

Suspicion describe_crash(const View& view, const TorchCrew& crew, const CrashGroup& group,
                         bool somebody_failed) {
  const Told& first = group.first();
  std::set<int> ranks = group.ranks();
  const ProcessExit* culprit = ranks == std::set{-1} ? only_culprit(view, crew, group) : nullptr;
  if (culprit != nullptr) ranks = {culprit->ranks.front()};

  Suspicion suspicion;
  suspicion.since = first.saying->line.time;
  suspicion.verdict = Verdict::failed;
  Finding& finding = suspicion.finding;
  finding.cause = first.cause();
  finding.subject = crew.subject_of(ranks);
  if (finding.subject.hosts.empty() && culprit != nullptr && !culprit->host.empty())
    finding.subject.hosts = {culprit->host};
  if (finding.subject.ranks.empty() && !first.rank->host.empty())
    finding.subject.hosts = {first.rank->host};
  finding.severity = Severity::critical;
  suspicion.sure = Claim::crash_first;
  suspicion.needs_effect =
      !somebody_failed && std::ranges::all_of(group.told, &Told::perhaps_caught);
  finding.count = group.told.size();
  if (first.match) {
    const MessageSignature& signature = *first.match->signature;
    Fields fields = first.match->fields;
    const int rank = *ranks.begin();
    std::string host = rank >= 0 ? crew.host_of(rank) : first.rank->host;
    if (host.empty() && fields.contains("host")) {  // the line itself names it
      host = fields["host"];
      // For a pair it is the end that printed the line, which need not be the one at fault.
      if (signature.blames != Blames::pair) finding.subject.hosts = {host};
    }
    fields["host"] = host.empty() ? "its host" : host;
    std::string title = signature.title;
    if (constexpr std::string_view kHost = "{host}"; host.empty() && title.starts_with(kHost))
      title.replace(0, kHost.size(),
                    rank >= 0 ? fmt::format("The host of rank {}", rank) : "The host of a rank");
    constexpr std::string_view kSomeRank = "A rank on {host}";
    if (rank >= 0 && title.starts_with(kSomeRank))
      title.replace(0, kSomeRank.size(), crew.people(ranks));
    name_people(crew, ranks, title);
    fields["rank"] = fmt::format("{}", rank);
    finding.title = filled(title, fields);
    finding.severity = signature.severity;
    suspicion.sure = {Claim::signature, signature.confidence};
    if (is_of(finding.cause, Family::corruption)) suspicion.verdict = Verdict::corrupt;
    AdviceSubject about{.host = host, .fields = first.match->fields};
    if (rank >= 0) about.rank = rank;
    for (const Action& action : signature.actions)
      finding.actions.push_back(fill_in(action, about));
  } else {
    const TorchSaying& telling = first.telling();
    suspicion.names_its_reason = telling.exception && !is_of_the_host(*telling.exception);
    suspicion.is_of_the_code = telling.exception && is_of_the_code(*telling.exception);
    if (telling.exception && may_be_a_peers(view, *telling.exception))
      suspicion.sure.add(Ground::raised_in_a_collective);
    finding.title = fmt::format("{} raised {}", crew.people(ranks), telling.text);
    if (const auto& exception = telling.exception; exception && !exception->file.empty())
      finding.title += fmt::format(
          " ({}:{}{}{})", exception->file.substr(exception->file.rfind('/') + 1),
          exception->file_line, exception->function.empty() ? "" : " in ", exception->function);
  }
  if (finding.title.size() > kMostTitleBytes) {
    finding.title.resize(kMostTitleBytes);
    finding.title += " ...";
  }
  add_lines_of_crash(view, first, finding);
  return suspicion;
}

// RuntimeError: NCCL error: ... without its traceback. A log may name an error in other ways, too.
bool was_raised(const Told& told) {
  if (told.saying->exception) return true;
  const std::string_view text = told.saying->text;
  const std::string_view type = text.substr(0, text.find(": "));
  return type.size() < text.size() && type.find(' ') == std::string_view::npos &&
         (type.ends_with("Error") || type.ends_with("Exception")) && !type.starts_with("nccl");
}

// A rank that lost a peer did not fail first: the peer is the subject, if the line names it.
Subject subject_of_echo(const TorchCrew& crew, const Told& told, const std::set<int>& ranks) {
  if (!told.match || told.match->signature->blames != Blames::peer) return crew.subject_of(ranks);
  const auto peer = told.match->fields.find("rank_a");
  if (peer == told.match->fields.end()) return {};
  return crew.subject_of({number_in_digits(peer->second)});
}

// Ranks that others took down, by class of error.
Suspicion describe_echoes(const View& view, const TorchCrew& crew, const CrashGroup& group) {
  const Told& first = group.first();
  const std::set<int> ranks = group.ranks();
  Suspicion suspicion;
  suspicion.since = first.saying->line.time;
  suspicion.verdict = Verdict::failed;
  // Lines alone may be the noise of a good end, unless their signature says otherwise.
  suspicion.stops_job = std::ranges::any_of(group.told, [](const Told& told) {
    return was_raised(told) || !told.rank->timeouts.empty() ||
           (told.match && told.match->signature->severity == Severity::critical);
  });
  Finding& finding = suspicion.finding;
  finding.cause = first.cause();
  suspicion.reason_is_told = first.is_notice();
  if (finding.cause == Cause::collective_timeout) suspicion.verdict = Verdict::hang;
  const bool of_peer = first.match && first.match->signature->blames == Blames::peer;
  std::string title = first.match ? first.match->signature->title : first.saying->text;
  Fields fields = first.match ? first.match->fields : Fields();
  const bool has_place =
      first.match && !fields.contains("rank") && title.find("ank {rank}") != std::string::npos;
  if (has_place) {
    name_people(crew, ranks, title);
    fields["rank"] = fmt::format("{}", *ranks.begin());
  }
  finding.title = first.match ? filled(title, fields) : title;
  if (ranks != std::set{-1} && !has_place && !names_a_peer(first))
    finding.title += fmt::format(" ({})", crew.people(ranks));
  if (finding.title.size() > kMostTitleBytes) finding.title.resize(kMostTitleBytes);
  finding.severity = Severity::error;
  suspicion.sure = Claim::crash_echo;
  finding.count = group.told.size();
  finding.subject = subject_of_echo(crew, first, ranks);
  if (first.match) {
    const auto host = first.match->fields.find("host");  // where the line itself names it
    if (!of_peer && finding.subject.hosts.empty() && host != first.match->fields.end())
      finding.subject.hosts = {host->second};
    AdviceSubject about{.host = first.rank->host, .fields = first.match->fields};
    for (const Action& action : first.match->signature->actions)
      finding.actions.push_back(fill_in(action, about));
  }
  // An error of a class that names no part: the rank that prints it may only have noticed it.
  if (finding.subject.ranks.empty() && is(finding.cause, Trait::not_understood)) {
    suspicion.sure.add(Ground::no_part_named);
    if (std::ranges::none_of(group.told, was_raised)) suspicion.verdict = Verdict::unknown;
  }
  if (of_peer && !is(finding.cause, Trait::symptom))
    suspicion.sure = {Claim::signature, first.match->signature->confidence};
  for (const Told& told : group.told)
    if (finding.evidence.size() < 3) finding.evidence.push_back(view.evidence(told.saying->line));
  return suspicion;
}

void order_crashes(const std::vector<CrashGroup>& groups, std::vector<Suspicion>& found) {
  std::vector<const LineRef*> firsts;
  for (const CrashGroup& group : groups) firsts.push_back(&group.first().saying->line);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bool later = false;
    bool alone = true;
    for (std::size_t k = 0; k < groups.size() && !later; ++k) {
      if (k == i || groups[k].aside) continue;
      const Order order = said_order(*firsts[k], *firsts[i]);
      later = order == Order::before;
      alone &= order != Order::cannot_tell;
    }
    Finding& finding = found[i].finding;
    const bool of_machine = is_of(finding.cause, {Family::gpu, Family::host});
    if (of_machine) continue;
    if (later) {
      found[i].sure.add(Ground::later_crash);
      // What a rank raises after another one failed says little.
      if (finding.cause == Cause::software_rank_crashed) finding.cause = Cause::process_aborted;
    } else if (!alone) {
      found[i].sure.add(Ground::one_of_several_crashes);
    }
  }
}

}  // namespace

std::vector<Suspicion> find_torch_crashes(const View& view, const TorchCrew& crew) {
  const SourceSpeakers speakers(view);
  const CaughtExceptions caught(view, crew, speakers);
  std::map<std::pair<Cause, std::string>, CrashGroup> by_cause;
  std::map<Cause, CrashGroup> by_echo;
  bool only_a_step_ended = true;
  // A process that is ended after its work was done has not failed.
  const LineRef* end = word_of_its_end(view);
  const auto came_after_the_end = [&](const Told& told) {
    return end != nullptr && told.match && told.cause() == Cause::process_aborted &&
           said_order(*end, told.saying->line) == Order::before;
  };
  std::vector<const TorchRank*> labelled_first = crew.ranks();
  std::ranges::stable_partition(labelled_first,
                                [](const TorchRank* rank) { return rank->rank >= 0; });
  FirstEchoes ended;
  for (const TorchRank* rank : labelled_first) {
    Story story = story_of(view, crew, speakers, caught, ended, *rank);
    if (rank->rank >= 0 && !story.echoes.empty()) ended.add(rank->rank, story.echoes.front());
    if (story.cause) {
      const Cause cause = story.cause->cause();
      std::string alike;
      if (!story.cause->match) alike = without_what_varies(story.cause->telling().text);
      // A memory fault of one GPU is not that of another.
      if (is_of(cause, Family::gpu)) alike = fmt::format("{}|{}", rank->rank, rank->source);
      by_cause[{cause, alike}].told.push_back(std::move(*story.cause));
    }
    for (Told& aside : story.asides) {
      CrashGroup& group = by_cause[{aside.cause(), "aside|" + aside.match->signature->id}];
      group.aside = true;
      group.told.push_back(std::move(aside));
    }
    for (Told& echo : story.echoes) {
      if (came_after_the_end(echo)) continue;
      only_a_step_ended &= says_that_a_step_ended(echo);
      const Cause cause = echo.cause();
      by_echo[cause].told.push_back(std::move(echo));
    }
  }
  std::vector<CrashGroup> groups;
  for (auto& [key, group] : by_cause) groups.push_back(std::move(group));
  std::vector<Suspicion> found;
  for (const CrashGroup& group : groups)
    found.push_back(describe_crash(view, crew, group, caught.somebody_failed()));
  order_crashes(groups, found);
  Exceptions exceptions = std::ranges::any_of(groups, &CrashGroup::says_why_it_ended)
                              ? Exceptions::tell_why
                              : Exceptions::none;
  const bool somebody_waits = std::ranges::any_of(
      crew.ranks(), [](const TorchRank* rank) { return !rank->timeouts.empty(); });
  if (exceptions == Exceptions::none &&
      ((!by_echo.empty() && !only_a_step_ended) || somebody_waits))
    exceptions = Exceptions::follow;
  add_ends(view, crew, exceptions, found);  // before the echoes, which say less
  for (auto& [cause, group] : by_echo) {
    if (cause == Cause::collective_timeout && somebody_waits) continue;  // whole lines say more
    // What follows from a cause of its own class adds nothing to it.
    if (std::ranges::any_of(groups, [&](const CrashGroup& group) {
          return is_known_cause(group) && group.first().cause() == cause;
        }))
      continue;
    // If crashes cannot be told apart from what they led to, nothing is said to follow from them.
    if (cause == Cause::software_rank_crashed)
      for (Told& told : group.told) told.match.reset();
    found.push_back(describe_echoes(view, crew, group));
    // A line that names no part says that another rank acted first.
    if (found.back().finding.subject.ranks.empty() &&
        std::ranges::any_of(
            groups, [](const CrashGroup& group) { return !group.aside && is_known_cause(group); }))
      found.back().sure.add(Ground::echo_by_its_words);
    if (found.back().finding.cause == Cause::software_rank_crashed)
      found.back().finding.cause = Cause::process_aborted;
  }
  return found;
}

}  // namespace faultline
