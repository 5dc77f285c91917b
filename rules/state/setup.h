// Setup: how a job started: the settings that each process printed, and for each communicator how
// its ranks were connected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "rules/state/arranged.h"
#include "rules/state/line_ref.h"
#include "rules/state/process_key.h"
#include "rules/state/words.h"

namespace faultline {

// A question and its first answer. A question is the group and the name of a Setting: "version
// nccl", "environment NCCL_ALGO", "devices IB".
struct AnswerGiven {
  Word question = kNoWord;
  Word value = kNoWord;
  std::optional<Word> later;  // a later, different answer of the same process
};

enum class Direction : std::uint8_t { both, send, receive };

// The connections of one rank that are of the same kind.
struct Link {
  Word transport = kNoWord;  // P2P/CUMEM, SHM/direct, NET/IB
  Direction direction = Direction::both;
  bool gdr = false;
  bool shared = false;        // for point-to-point traffic
  std::vector<int> peers;     // ranks of the communicator, sorted; the first few
  std::uint64_t devices = 0;  // a bit for each NIC, by its index
};

struct StepDone {
  Word step = kNoWord;
  std::optional<float> seconds;
};

// One rank of one communicator, as it was set up.
struct CommunicatorSetup {
  std::uint64_t communicator = 0;  // 0: not known
  int rank = -1;
  int nranks = 0;
  int nodes = 0;                     // 0: not known
  int rings = 0;                     // 0: not known; only rank 0 prints it
  std::vector<AnswerGiven> answers;  // "channels collective"
  std::vector<Link> links;
  std::vector<StepDone> steps;
  std::int64_t thread = 0;  // the thread that set it up
  bool complete = false;
  bool ended = false;
};

struct ProcessSetup {
  ProcessKey process;
  std::string host;  // as its lines name it, else as the sender does; empty: not known
  std::uint32_t source = 0;
  std::vector<AnswerGiven> answers;              // sorted by question
  std::vector<CommunicatorSetup> communicators;  // in the order in which they began
  bool prints_starts = false;                    // its NCCL prints a line when an init begins
};

class Setup {
 public:
  void apply(std::uint32_t source, const Source& origin, const Batch& batch, const Event& event);

  using SetUp = Arranged<ProcessSetup, ByProcess>;
  const SetUp& processes() const { return processes_; }
  const ProcessSetup* find(const ProcessKey& process) const;  // nullptr: it printed nothing

  const std::string& text(Word word) const { return words_.text(word); }

  // nullptr: there is no answer.
  const std::string* answer(const ProcessSetup& process, std::string_view question) const;
  const std::string* answer(const CommunicatorSetup& communicator, std::string_view question) const;

  // A line in which a process of this host said so, and the process: the last one in the order of
  // processes.
  struct Said {
    std::size_t process = 0;  // index into processes()
    LineRef line;
  };
  const Said* line_of_answer(std::string_view host, std::string_view question,
                             std::string_view value) const;
  const Said* line_of_link(std::string_view host, std::string_view transport, Direction direction,
                           bool gdr) const;

 private:
  using LineKey = std::tuple<Word, Word, Word>;  // host, question, value

  struct LastSpeaker {
    std::size_t process = 0;
    bool known = false;
    bool several_hosts = false;
  };

  void remember_speaker(std::uint32_t source, int launcher_rank, const ProcessSetup& process);
  ProcessSetup* last_to_speak(std::uint32_t source, int launcher_rank);
  ProcessSetup* process_for(std::uint32_t source, const Source& origin, const Speaker& speaker);
  void learn(ProcessSetup& process, const Setting& setting, const LineRef& line);
  void learn(ProcessSetup& process, const PeerConnection& connection, const LineRef& line);
  void learn(ProcessSetup& process, const SetupStep& step);
  void add_answer(std::vector<AnswerGiven>& answers, std::size_t most, Word question,
                  Word value) const;
  void keep_line(const ProcessSetup& process, Word question, Word value, const LineRef& line);
  const Said* kept_line(std::string_view host, std::string_view question,
                        std::string_view value) const;

  Words words_;
  SetUp processes_;
  std::map<ProcessKey, std::size_t> known_;
  std::map<LineKey, Said> lines_;
  // By source and by the rank that a launcher prints in front of lines.
  std::map<std::pair<std::uint32_t, int>, LastSpeaker> last_speakers_;
};

}  // namespace faultline
