#include "rules/state/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "rules/state/sources.h"

namespace faultline {
namespace {

// Limits, because a hostile log could print any number. A process of a real job has about 60
// answers, 20 communicators, and 4 kinds of links in each.
constexpr std::size_t kMostProcesses = 65536;
constexpr std::size_t kMostAnswers = 256;
constexpr std::size_t kMostAnswersOfCommunicator = 16;
constexpr std::size_t kMostCommunicators = 64;
constexpr std::size_t kMostLinks = 24;
constexpr std::size_t kMostPeers = 64;
constexpr std::size_t kMostSteps = 16;
constexpr std::size_t kMostLines = 32768;
constexpr int kMostRings = 1024;

bool is_of_communicator(const Setting& setting) {
  return setting.group == "channels" || setting.group == "ring";
}

Direction direction_of(const PeerConnection& connection) {
  if (connection.direction == "send") return Direction::send;
  return connection.direction == "receive" ? Direction::receive : Direction::both;
}

std::string name_of_link(std::string_view transport, Direction direction, bool gdr) {
  return fmt::format("link {} {} {}", transport, static_cast<int>(direction), gdr);
}

// Adds a communicator; if there are too many, it takes the place of one that has ended. nullptr:
// none has.
CommunicatorSetup* new_communicator(ProcessSetup& process, std::int64_t thread) {
  std::vector<CommunicatorSetup>& all = process.communicators;
  if (all.size() >= kMostCommunicators) {
    const auto ended = std::ranges::find(all, true, &CommunicatorSetup::ended);
    if (ended == all.end()) return nullptr;
    all.erase(ended);
  }
  CommunicatorSetup& fresh = all.emplace_back();
  fresh.thread = thread;
  return &fresh;
}

// Returns the latest communicator for which the predicate holds.
template <class Is>
CommunicatorSetup* latest(ProcessSetup& process, Is&& is) {
  std::vector<CommunicatorSetup>& all = process.communicators;
  const auto found = std::find_if(all.rbegin(), all.rend(), is);
  return found == all.rend() ? nullptr : &*found;
}

CommunicatorSetup* named(ProcessSetup& process, std::uint64_t communicator) {
  return latest(process, [&](const CommunicatorSetup& c) {
    return c.communicator == communicator && communicator != 0;
  });
}

// The communicator that this thread is setting up.
CommunicatorSetup* in_progress(ProcessSetup& process, std::int64_t thread) {
  if (thread == 0) return nullptr;
  return latest(process,
                [&](const CommunicatorSetup& c) { return c.thread == thread && !c.complete; });
}

CommunicatorSetup* without_name(ProcessSetup& process, std::int64_t thread) {
  CommunicatorSetup* open = in_progress(process, thread);
  return open != nullptr && open->communicator == 0 ? open : nullptr;
}

// NCCL up to 2.18.1 names a communicator only in the last line of its setup.
bool may_be_named_later(const ProcessSetup& process) { return !process.prints_starts; }

bool can_have(const CommunicatorSetup& communicator, const PeerConnection& connection) {
  return communicator.communicator != 0 && !communicator.ended &&
         std::max(connection.from, connection.to) < communicator.nranks &&
         (connection.from == communicator.rank || connection.to == communicator.rank);
}

CommunicatorSetup* communicator_of(ProcessSetup& process, const PeerConnection& connection) {
  if (CommunicatorSetup* open = in_progress(process, connection.thread)) return open;
  if (may_be_named_later(process) && !connection.shared && connection.thread != 0)
    return new_communicator(process, connection.thread);
  // Connected at the first use, by the communicator's own thread.
  CommunicatorSetup* its_own = latest(process, [&](const CommunicatorSetup& c) {
    return c.thread == connection.thread && connection.thread != 0 && can_have(c, connection);
  });
  if (its_own != nullptr) return its_own;
  CommunicatorSetup* recent =
      latest(process, [&](const CommunicatorSetup& c) { return can_have(c, connection); });
  if (recent != nullptr) return recent;
  CommunicatorSetup* unknown = latest(
      process, [](const CommunicatorSetup& c) { return c.communicator == 0 && c.thread == 0; });
  return unknown != nullptr ? unknown : new_communicator(process, 0);
}

// The communicator that the thread is setting up; else the latest one.
CommunicatorSetup* communicator_of(ProcessSetup& process, std::int64_t thread) {
  if (CommunicatorSetup* open = in_progress(process, thread)) return open;
  if (may_be_named_later(process) || process.communicators.empty())
    return new_communicator(process, thread);
  return &process.communicators.back();
}

void begin(ProcessSetup& process, const CommunicatorInit& init) {
  CommunicatorSetup* known = named(process, init.communicator);
  const bool goes_on = known != nullptr && !known->ended && known->rank == init.rank &&
                       known->nranks == init.nranks && (!known->complete || init.complete);
  if (!init.complete) process.prints_starts = true;
  if (!goes_on) {
    if (known != nullptr) known->ended = true;  // its pointer is reused
    CommunicatorSetup* fresh = without_name(process, init.thread);
    if (fresh == nullptr) fresh = new_communicator(process, init.thread);
    if (fresh == nullptr) return;
    fresh->communicator = init.communicator;
    fresh->rank = init.rank;
    fresh->nranks = init.nranks;
    known = fresh;
  }
  known->complete |= init.complete;
}

}  // namespace

void Setup::apply(std::uint32_t source, const Source& origin, const Batch& batch,
                  const Event& event) {
  const bool tells = std::holds_alternative<Setting>(event.fact) ||
                     std::holds_alternative<PeerConnection>(event.fact) ||
                     std::holds_alternative<SetupStep>(event.fact) ||
                     std::holds_alternative<CommunicatorShape>(event.fact) ||
                     std::holds_alternative<CommunicatorInit>(event.fact) ||
                     std::holds_alternative<CommunicatorEnd>(event.fact);
  if (!tells) return;
  const Speaker& speaker = batch.speakers[event.speaker];
  const bool nameless = speaker.host.empty() && speaker.pid == 0;
  ProcessSetup* process =
      nameless ? last_to_speak(source, speaker.rank) : process_for(source, origin, speaker);
  if (process == nullptr && nameless) process = process_for(source, origin, speaker);
  if (process == nullptr) return;
  if (!nameless) remember_speaker(source, speaker.rank, *process);
  const LineRef line{source, event.line, event.offset, event.time, event.text};
  if (const auto* setting = std::get_if<Setting>(&event.fact)) {
    learn(*process, *setting, line);
  } else if (const auto* connection = std::get_if<PeerConnection>(&event.fact)) {
    learn(*process, *connection, line);
  } else if (const auto* step = std::get_if<SetupStep>(&event.fact)) {
    learn(*process, *step);
  } else if (const auto* init = std::get_if<CommunicatorInit>(&event.fact)) {
    begin(*process, *init);
  } else if (const auto* shape = std::get_if<CommunicatorShape>(&event.fact)) {
    if (CommunicatorSetup* known = named(*process, shape->communicator))
      known->nodes = shape->nodes;
  } else if (const auto* end = std::get_if<CommunicatorEnd>(&event.fact)) {
    if (CommunicatorSetup* known = named(*process, end->communicator)) known->ended = true;
  }
}

void Setup::remember_speaker(std::uint32_t source, int launcher_rank, const ProcessSetup& process) {
  if (last_speakers_.size() >= kMostProcesses) return;
  LastSpeaker& last = last_speakers_[{source, launcher_rank}];
  const auto index = processes_.index_of(process);
  last.several_hosts |= last.known && processes_[last.process].host != process.host;
  last.process = index;
  last.known = true;
}

// Up to 2.21 the version is on a line of its own that names no process. It belongs to the process
// of the line before, or at least to one on its host.
ProcessSetup* Setup::last_to_speak(std::uint32_t source, int launcher_rank) {
  const auto last = last_speakers_.find({source, launcher_rank});
  if (last == last_speakers_.end() || last->second.several_hosts) return nullptr;
  return &processes_[last->second.process];
}

ProcessSetup* Setup::process_for(std::uint32_t source, const Source& origin,
                                 const Speaker& speaker) {
  ProcessKey key = process_of(origin, speaker);
  const auto known = known_.find(key);
  if (known != known_.end()) return &processes_[known->second];
  if (processes_.size() >= kMostProcesses) return nullptr;
  ProcessSetup fresh;
  fresh.process = key;
  fresh.host = short_host(speaker.host.empty() ? origin.host : speaker.host);
  fresh.source = source;
  const std::size_t which = processes_.add(std::move(fresh));
  known_.emplace(std::move(key), which);
  return &processes_[which];
}

void Setup::learn(ProcessSetup& process, const Setting& setting, const LineRef& line) {
  if (setting.group == "ring") {
    int number = 0;
    const char* end = setting.name.data() + setting.name.size();
    if (std::from_chars(setting.name.data(), end, number).ec != std::errc() || number < 0 ||
        number >= kMostRings)
      return;
    if (CommunicatorSetup* communicator = communicator_of(process, setting.thread))
      communicator->rings = std::max(communicator->rings, number + 1);
    return;
  }
  const Word question = words_.learn(setting.group + " " + setting.name);
  const Word value = words_.learn(setting.value);
  if (question == kNoWord || value == kNoWord) return;
  if (is_of_communicator(setting)) {
    if (CommunicatorSetup* communicator = communicator_of(process, setting.thread))
      add_answer(communicator->answers, kMostAnswersOfCommunicator, question, value);
  } else {
    add_answer(process.answers, kMostAnswers, question, value);
  }
  keep_line(process, question, value, line);
}

void Setup::learn(ProcessSetup& process, const PeerConnection& connection, const LineRef& line) {
  CommunicatorSetup* communicator = communicator_of(process, connection);
  const Word transport = words_.learn(connection.transport);
  if (communicator == nullptr || transport == kNoWord) return;
  const Direction direction = direction_of(connection);
  std::vector<Link>& links = communicator->links;
  auto link = std::ranges::find_if(links, [&](const Link& known) {
    return known.transport == transport && known.direction == direction &&
           known.gdr == connection.gdr && known.shared == connection.shared;
  });
  if (link == links.end()) {
    if (links.size() >= kMostLinks) return;
    link = links.insert(links.end(),
                        Link{transport, direction, connection.gdr, connection.shared, {}, 0});
  }
  // If one line stands for both directions, the sender prints it.
  const bool is_receiver =
      direction == Direction::receive ||
      (direction == Direction::both && communicator->rank >= 0 &&
       connection.from != communicator->rank && connection.to == communicator->rank);
  const int peer = is_receiver ? connection.from : connection.to;
  const auto place = std::ranges::lower_bound(link->peers, peer);
  if ((place == link->peers.end() || *place != peer) && link->peers.size() < kMostPeers)
    link->peers.insert(place, peer);
  if (connection.device >= 0 && connection.device < 64)
    link->devices |= std::uint64_t{1} << connection.device;

  const Word name = words_.learn(name_of_link(connection.transport, direction, connection.gdr));
  if (name != kNoWord) keep_line(process, name, transport, line);
}

void Setup::learn(ProcessSetup& process, const SetupStep& step) {
  CommunicatorSetup* communicator = communicator_of(process, step.thread);
  const Word word = words_.learn(step.step);
  if (communicator == nullptr || word == kNoWord || communicator->steps.size() >= kMostSteps ||
      std::ranges::find(communicator->steps, word, &StepDone::step) != communicator->steps.end())
    return;
  StepDone& done = communicator->steps.emplace_back();
  done.step = word;
  if (step.seconds) done.seconds = static_cast<float>(*step.seconds);
}

void Setup::add_answer(std::vector<AnswerGiven>& answers, std::size_t most, Word question,
                       Word value) const {
  const auto place = std::ranges::lower_bound(answers, question, {}, &AnswerGiven::question);
  if (place != answers.end() && place->question == question) {
    // An empty first value is replaced: it was not the answer yet.
    if (words_.text(place->value).empty())
      place->value = value;
    else if (place->value != value)
      place->later = value;
  } else if (answers.size() < most) {
    answers.insert(place, AnswerGiven{question, value, std::nullopt});
  }
}

void Setup::keep_line(const ProcessSetup& process, Word question, Word value, const LineRef& line) {
  const Word host = words_.learn(process.host);
  if (host == kNoWord) return;
  const auto index = processes_.index_of(process);
  const LineKey key{host, question, value};
  const auto known = lines_.find(key);
  if (known == lines_.end()) {
    if (lines_.size() < kMostLines) lines_.emplace(key, Said{index, line});
  } else if (processes_[known->second.process].process < process.process) {
    known->second = {index, line};
  }
}

const ProcessSetup* Setup::find(const ProcessKey& process) const {
  const auto known = known_.find(process);
  return known == known_.end() ? nullptr : &processes_[known->second];
}

const std::string* Setup::answer(const ProcessSetup& process, std::string_view question) const {
  const Word word = words_.find(question);
  const auto place = std::ranges::lower_bound(process.answers, word, {}, &AnswerGiven::question);
  if (word == kNoWord || place == process.answers.end() || place->question != word) return nullptr;
  return &words_.text(place->value);
}

const std::string* Setup::answer(const CommunicatorSetup& communicator,
                                 std::string_view question) const {
  const Word word = words_.find(question);
  const auto place = std::ranges::find(communicator.answers, word, &AnswerGiven::question);
  if (word == kNoWord || place == communicator.answers.end()) return nullptr;
  return &words_.text(place->value);
}

const Setup::Said* Setup::kept_line(std::string_view host, std::string_view question,
                                    std::string_view value) const {
  const auto known =
      lines_.find(LineKey{words_.find(host), words_.find(question), words_.find(value)});
  return known == lines_.end() ? nullptr : &known->second;
}

const Setup::Said* Setup::line_of_answer(std::string_view host, std::string_view question,
                                         std::string_view value) const {
  return kept_line(host, question, value);
}

const Setup::Said* Setup::line_of_link(std::string_view host, std::string_view transport,
                                       Direction direction, bool gdr) const {
  return kept_line(host, name_of_link(transport, direction, gdr), transport);
}

}  // namespace faultline
