#include "simulate/log_writer.h"

#include <algorithm>
#include <numeric>

#include "simulate/chance.h"
#include "simulate/rank_log.h"
#include "simulate/wrapper.h"

namespace faultline::simulation {
namespace {

// How much stdio collects before it writes to a pipe or file.
constexpr std::size_t kBlock = 4096;
// For a file with one writer, where the size of blocks does not show.
constexpr std::size_t kManyBlocks = 64 * kBlock;

// Writes the lines of a rank with their wrapper, and holds back what its stdio would.
class Writer {
 public:
  Writer(const Attempt& attempt, int rank, std::uint64_t salt)
      : log_(attempt, rank),
        wrapper_(wrapper_named(attempt.job.options.wrapper)->wrap),
        lose_(attempt.job.options.lose_percent / 100),
        chance_(chance(attempt.job.options.seed, 0x105e, salt, rank, attempt.number)) {
    const Cluster& cluster = attempt.job.cluster;
    if (wrapper_ != nullptr)
      speaker_ = {.host = cluster.host_name_of(rank),
                  .address = cluster.address(cluster.host_of(rank)),
                  .pid = log_.voice().pid(),
                  .rank = rank,
                  .ranks = cluster.ranks(),
                  .local_rank = cluster.local_of(rank)};
  }

  bool next() {
    if (wrapper_ == nullptr && lose_ == 0) return log_.next(held);
    raw_.clear();
    const bool more = log_.next(raw_);
    std::string_view rest = raw_;
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (lose_ > 0 && chance_.fraction() < lose_) continue;
      if (wrapper_ != nullptr) {
        wrapper_(held, line, speaker_, log_.now());
      } else {
        held += line;
        held += '\n';
      }
    }
    return more;
  }

  bool killed() const { return log_.killed(); }
  bool ends() const { return log_.ends(); }
  Timestamp end_time() const { return log_.end_time(); }

  std::string held;

 private:
  RankLog log_;
  void (*wrapper_)(std::string&, std::string_view, const Speaker&, Timestamp);
  double lose_;
  Chance chance_;
  Speaker speaker_;
  std::string raw_;
};

// How many bytes of a full block are written: whole lines, unless lines are to be torn.
std::size_t portion(const std::string& held, bool torn) {
  if (torn) return kBlock;
  const std::size_t last = held.rfind('\n', kBlock - 1);
  return last == std::string::npos ? held.find('\n') + 1 : last + 1;
}

void write_alone(Output& output, Writer& writer, bool blocks) {
  while (writer.next()) {
    if (writer.held.size() < kManyBlocks) continue;
    const std::size_t keep = writer.held.size() % kBlock;
    output.write(std::string_view(writer.held).substr(0, writer.held.size() - keep));
    writer.held.erase(0, writer.held.size() - keep);
  }
  // A killed process loses what stdio still held; its last line may be cut.
  std::string_view rest = writer.held;
  if (writer.killed() && blocks) rest = rest.substr(0, rest.size() - rest.size() % kBlock);
  output.write(rest);
}

}  // namespace

void write_log(Output& output, const Attempt& attempt, const std::vector<int>& ranks,
               std::uint64_t salt) {
  std::vector<Writer> writers;
  writers.reserve(ranks.size());
  for (const int rank : ranks) writers.emplace_back(attempt, rank, salt);
  const Options& options = attempt.job.options;
  // Before 2.13.4 each line is flushed.
  const bool blocks = attempt.job.version.since(13, 4);
  if (writers.size() == 1) return write_alone(output, writers.front(), blocks);

  Chance order(chance(options.seed, 0x04de4, salt, attempt.number));
  std::vector<std::size_t> turns(writers.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::vector<bool> over(writers.size(), false);

  const auto release = [&](Writer& writer) {
    output.write(writer.held);
    writer.held.clear();
  };
  // In a round each rank writes one piece, so that none gets ahead of the ranks that it waits for.
  std::vector<std::size_t> ending;
  for (std::size_t alive = writers.size(); alive > 0;) {
    for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[order.below(i)]);
    for (const std::size_t turn : turns) {
      if (over[turn]) continue;
      Writer& writer = writers[turn];
      if (writer.ends() || !writer.next()) {
        over[turn] = true;
        --alive;
        ending.push_back(turn);
        continue;
      }
      if (!blocks) release(writer);
      while (writer.held.size() >= kBlock) {
        const std::size_t size = portion(writer.held, options.torn);
        output.write(std::string_view(writer.held).substr(0, size));
        writer.held.erase(0, size);
      }
    }
  }
  // Ranks that fail earlier print their end earlier.
  std::stable_sort(ending.begin(), ending.end(), [&](std::size_t a, std::size_t b) {
    return writers[a].end_time() < writers[b].end_time();
  });
  for (const std::size_t turn : ending) {
    Writer& writer = writers[turn];
    while (writer.next()) {
    }
    if (!blocks || !writer.killed()) release(writer);
  }
}

}  // namespace faultline::simulation
