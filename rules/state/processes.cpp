#include "rules/state/processes.h"

#include <type_traits>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostProcesses = 1 << 17;

template <class T, class... Others>
constexpr bool kIsOneOf = (std::is_same_v<T, Others> || ...);

bool of_nccl(const Fact& fact) {
  return std::visit(
      [](const auto& f) {
        using T = std::decay_t<decltype(f)>;
        if constexpr (std::is_same_v<T, Remark>) return f.dialect == "nccl";
        return kIsOneOf<T, CommunicatorInit, CommunicatorEnd, CommunicatorShape, Setting,
                        PeerConnection, SetupStep, BackTrace>;
      },
      fact);
}

}  // namespace

void Processes::apply(std::uint32_t source, const Source& origin, const Batch& batch,
                      const Event& event) {
  const Speaker& speaker = batch.speakers[event.speaker];
  if (speaker.pid == 0 || !of_nccl(event.fact)) return;
  ProcessKey key = process_of(origin, speaker);
  auto known = known_.find(key);
  if (known == known_.end()) {
    if (all_.size() == kMostProcesses) {
      ++left_out_;
      return;
    }
    ProcessSeen fresh;
    fresh.process = key;
    fresh.host = short_host(speaker.host.empty() ? origin.host : speaker.host);
    fresh.source = source;
    fresh.first = {source, event.line, event.offset, event.time, event.text};
    known = known_.emplace(std::move(key), all_.add(std::move(fresh))).first;
  }
  ProcessSeen& seen = all_[known->second];
  if (seen.launcher_rank < 0) seen.launcher_rank = speaker.rank >= 0 ? speaker.rank : origin.rank;
  seen.last = {source, event.line, event.offset, event.time, event.text};
  seen.began |= std::holds_alternative<CommunicatorInit>(event.fact);
  seen.connected |= std::holds_alternative<CommunicatorShape>(event.fact) ||
                    std::holds_alternative<PeerConnection>(event.fact);
  if (const auto* step = std::get_if<SetupStep>(&event.fact))
    seen.connected |= step->step != "bootstrap";
  if (const auto* setting = std::get_if<Setting>(&event.fact))
    seen.prints_init |= setting->group == "interface" && setting->name == "bootstrap";
}

const ProcessSeen* Processes::find(const ProcessKey& process) const {
  const auto known = known_.find(process);
  return known == known_.end() ? nullptr : &all_[known->second];
}

}  // namespace faultline
