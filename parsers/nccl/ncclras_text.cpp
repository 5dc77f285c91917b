#include "parsers/nccl/ncclras_text.h"

#include <algorithm>
#include <vector>

#include "parsers/nccl/ncclras_words.h"
#include "parsers/scan.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

constexpr std::size_t kMaxGroups = 65536;
constexpr int kMostRanksInAList = 4096;
constexpr int kMostForeignLines = 64;  // in a row; after more the report is over

using tool_text::trimmed;

bool is_status(std::string_view word) { return !rank_state_of(word).empty(); }

// Everything up to the literal; false if it is not there.
bool until(Scan& in, std::string_view literal, std::string_view& piece) {
  const std::size_t at = in.rest().find(literal);
  if (at == std::string_view::npos) return false;
  piece = in.rest().substr(0, at);
  in = Scan(in.rest().substr(at + literal.size()));
  return true;
}

// "3", "3 (NVML 5)"; -1 for a list of several GPUs.
int device_of(std::string_view text) {
  Scan in(text);
  int device = -1;
  if (!in.decimal(device)) return -1;
  if (in.skip(" (NVML ")) return in.rest().find(',') == std::string_view::npos ? device : -1;
  return in.done() ? device : -1;
}

// Process 4711 on node 10.0.0.7 managing GPUs 0,1
bool read_process(Scan& in, RankReport& report) {
  std::string_view gpus;
  if (!in.skip("Process ") || !in.decimal(report.pid) || !in.skip(" on node ")) return false;
  report.host = in.word();
  if (!in.skip(" managing GPU")) return false;
  const bool several = in.skip("s");
  if (!in.skip(" ")) return false;
  gpus = in.word();
  report.cuda_device = several ? -1 : device_of(gpus);
  return report.pid > 0 && !report.host.empty() && !gpus.empty();
}

// GPU 3 (NVML 5) managed by process 4711 on node 10.0.0.7
bool read_holder(Scan& in, RankReport& report) {
  if (in.skip("[process information not found]")) return in.done();
  std::string_view gpu;
  if (!in.skip("GPU ") || !until(in, " managed by process ", gpu) || !in.decimal(report.pid) ||
      !in.skip(" on node "))
    return false;
  report.cuda_device = device_of(gpu);
  report.host = in.word();
  return in.done() && !report.host.empty();
}

class Report : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = trimmed(line.text);
    readings_ = &readings;
    const bool mine = read(text);
    readings_ = nullptr;
    if (mine) {
      foreign_ = 0;
      return Line::part;
    }
    return ++foreign_ > kMostForeignLines ? Line::after : Line::foreign;
  }

  std::string_view dialect() const override { return kNcclras; }

  std::size_t size() const override { return sizeof *this + groups_.size() * sizeof(Group); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<std::int64_t>(topic_));
    saved.text(said_.communicator_id);
    saved.number(said_.nranks);
    saved.text(said_.state);
    saved.text(said_.error);
    saved.text(said_.operation);
    saved.number(said_.launched ? static_cast<std::int64_t>(*said_.launched) : -1);
    saved.number(group_);
    saved.number(foreign_);
    saved.number(static_cast<std::int64_t>(groups_.size()));
    for (const Group& group : groups_) {
      saved.number(group.nranks);
      saved.text(group.status);
      saved.text(group.errors);
    }
  }

  void restore(SavedBytesReader& saved) override {
    topic_ = static_cast<Topic>(std::clamp<std::int64_t>(
        saved.number(), 0, static_cast<std::int64_t>(Topic::of_communicator)));
    said_.communicator_id = saved.text();
    said_.nranks = saved.small_number();
    said_.state = saved.text();
    said_.error = saved.text();
    said_.operation = saved.text();
    if (const std::int64_t launched = saved.number(); launched >= 0)
      said_.launched = static_cast<std::uint64_t>(launched);
    group_ = saved.small_number();
    foreign_ = saved.small_number();
    const std::int64_t groups = saved.number();
    for (std::int64_t i = 0; i < groups && saved.ok() && groups_.size() < kMaxGroups; ++i) {
      Group& group = groups_.emplace_back();
      group.nranks = saved.small_number();
      group.status = saved.text();
      group.errors = saved.text();
    }
  }

 private:
  enum class Topic { summary, table, nothing, missing_processes, dead_processes, of_communicator };

  struct Group {
    int nranks = 0;
    std::string status;
    std::string errors;
  };

  bool read(std::string_view text) {
    if (text.empty() || text.find_first_not_of('=') == std::string_view::npos) return true;
    if (text == "Job summary") {
      begin(Topic::summary);
      return true;
    }
    if (text.starts_with("Communicators...")) {
      begin(Topic::table);
      give(ReportOpened{.tool = std::string(kNcclras)});
      return true;
    }
    if (topic_ == Topic::summary) return read_summary(text);
    if (text == "Errors" || text == "Warnings" || text == "TIMEOUT") {
      begin(Topic::nothing);
      return true;
    }
    if (text == "INCOMPLETE" || text == "DEAD") {
      begin(text == "DEAD" ? Topic::dead_processes : Topic::missing_processes);
      return true;
    }
    if (text.front() == '#') return read_communicator(Scan(text)) || is_table_head(text);
    if (topic_ == Topic::table) return is_table_head(text) || read_row(Scan(text));
    if (topic_ == Topic::of_communicator && read_about_ranks(Scan(text))) return true;
    return read_process_line(text) || is_remark(text);
  }

  void begin(Topic topic) {
    topic_ = topic;
    said_ = {};
    if (topic == Topic::summary || topic == Topic::table) groups_.clear();
  }

  // The counts of nodes, processes and GPUs, and their headings.
  static bool read_summary(std::string_view text) {
    return text.starts_with("Nodes ") || text.starts_with("(total) ") ||
           text.starts_with("per node") || text.starts_with("per process") ||
           text.starts_with("Processes ") || text.starts_with("The outlier node") ||
           text.starts_with("Node ") || text.find_first_not_of("0123456789 ") == text.npos;
  }

  static bool is_table_head(std::string_view text) {
    return text.starts_with("Group ") || text.starts_with("#  in group") ||
           text == "No communicator data collected!";
  }

  //   0         1         2         8        16        16   RUNNING  MISMATCH
  bool read_row(Scan in) {
    constexpr int kRanksInCommunicator = 4;
    constexpr int kRanksInGroup = 5;
    int numbers[6] = {};
    for (int& number : numbers) {
      if (!in.decimal(number)) return false;
      int most = 0;
      if (in.skip("-") && !in.decimal(most)) return false;
      in.skip_blanks();
    }
    CommunicatorReport report{.tool = std::string(kNcclras), .communicator_id = {}};
    report.nranks = numbers[kRanksInCommunicator];
    report.ranks_seen = numbers[kRanksInGroup];
    report.status = in.word();
    in.skip_blanks();
    report.errors = in.word();
    if (!is_status(report.status) || report.errors.empty() || !in.done()) return false;
    const auto index = static_cast<std::size_t>(numbers[0]);
    constexpr std::size_t kMostSkipped = 64;  // rows come in order; few are lost
    if (index < std::min(kMaxGroups, groups_.size() + kMostSkipped)) {
      if (groups_.size() <= index) groups_.resize(index + 1);
      groups_[index] = {report.nranks, report.status, report.errors};
    }
    give(std::move(report));
    return true;
  }

  // #0-0 (cf264af53edbe986) MISMATCH
  bool read_communicator(Scan in) {
    int group = 0;
    int member = 0;
    std::string_view hash;
    if (!in.skip("#") || !in.decimal(group) || !in.skip("-") || !in.decimal(member) ||
        !in.skip(" (") || !in.until(')', hash) || !in.skip(" "))
      return false;
    const auto id = communicator_id_of(hash);
    const std::string_view what = in.rest();
    if (!id || (what != "INCOMPLETE" && what != "ERROR" && what != "MISMATCH")) return false;
    begin(Topic::of_communicator);
    group_ = group;
    said_.communicator_id = *id;
    if (const Group* row = this->group()) said_.nranks = row->nranks;
    if (what == "INCOMPLETE") {
      said_.state = "unresponsive";  // the ranks listed below
    } else {
      give(communicator(std::string(what)));
    }
    return true;
  }

  const Group* group() const {
    const auto index = static_cast<std::size_t>(group_);
    return index < groups_.size() ? &groups_[index] : nullptr;
  }

  CommunicatorReport communicator(std::string what) const {
    CommunicatorReport report{.tool = std::string(kNcclras),
                              .communicator_id = said_.communicator_id,
                              .nranks = said_.nranks,
                              .errors = std::move(what)};
    if (const Group* row = group()) {
      report.status = row->status;
      report.errors = row->errors;
    }
    return report;
  }

  bool read_about_ranks(Scan in) {
    if (in.skip("Communicator ranks have different ")) {
      forget_what_is_said();
      if (in.rest() == "status") return true;
      std::string_view operation;
      if (!until(in, " operation counts", operation) || !in.done()) return false;
      said_.operation = operation;
      return true;
    }
    if (in.skip("Missing communicator data from ")) {
      CommunicatorReport report = communicator("INCOMPLETE");
      if (!in.decimal(report.ranks_missing) || !in.skip(" rank")) return false;
      give(std::move(report));
      return true;
    }
    if (in.rest().starts_with("Initialization error") ||
        in.rest().starts_with("Asynchronous error")) {
      forget_what_is_said();
      return true;
    }
    if (in.skip("The missing rank")) return read_list(in, "unresponsive");
    if (in.skip("The unknown rank")) return read_list(in, "missing");
    if (in.skip("Rank ")) return read_rank(in);
    return read_ranks(in);
  }

  void forget_what_is_said() {
    said_.state.clear();
    said_.error.clear();
    said_.operation.clear();
    said_.launched.reset();
  }

  // "has launched up to operation 41", "have not launched any operations", "has status ABORT",
  // "reported System error": what is said of a rank, up to " -- " or the end of the line.
  bool read_what_is_said(std::string_view text) {
    Scan in(text);
    if (in.skip("has ") || in.skip("have ")) {
      if (in.skip("launched up to operation ")) {
        std::uint64_t launched = 0;
        if (!in.decimal(launched) || !in.done()) return false;
        said_.launched = launched;
        return true;
      }
      if (in.rest() == "not launched any operations") {
        said_.launched = 0;
        return true;
      }
      if (!in.skip("status ") || !is_status(in.rest())) return false;
      said_.state = rank_state_of(in.rest());
      return true;
    }
    if (!in.skip("reported ") || in.done()) return false;
    said_.error = in.rest();
    return true;
  }

  // 15 ranks have launched up to operation 42. Lines that follow may name some of these ranks.
  bool read_ranks(Scan in) {
    RankReport report;
    if (!in.decimal(report.ranks) || !in.skip(" ranks ") || !read_what_is_said(in.rest()))
      return false;
    if (!said_.launched) return true;
    const int ranks = report.ranks;
    report = said_;
    report.ranks = ranks;
    give_rank(std::move(report));
    return true;
  }

  // Rank 7 has launched up to operation 41 -- GPU 7 managed by process 4711 on node 10.0.0.7
  // Rank 7 -- [process information not found]
  bool read_rank(Scan in) {
    int rank = -1;
    if (!in.decimal(rank) || !in.skip(" ")) return false;
    std::string_view what;
    if (in.skip("-- ")) {
      RankReport report = said_;
      report.rank = rank;
      if (!read_holder(in, report)) return false;
      give_rank(std::move(report));
      return true;
    }
    const bool named = until(in, " -- ", what);
    if (!read_what_is_said(named ? what : in.rest())) return false;
    RankReport report = said_;
    report.rank = rank;
    if (named && !read_holder(in, report)) return false;
    give_rank(std::move(report));
    return true;
  }

  // "s: 3,7": 2.24 and 2.25 print only the numbers of the ranks.
  bool read_list(Scan in, std::string_view state) {
    in.skip("s");
    if (!in.skip(": ")) return false;
    RankReport report = said_;
    report.state = state;
    int count = 0;
    do {
      if (!in.decimal(report.rank)) return false;
      give_rank(report);
    } while (in.skip(",") && ++count < kMostRanksInAList);
    return true;
  }

  bool read_process_line(std::string_view text) {
    if (topic_ != Topic::missing_processes && topic_ != Topic::dead_processes) return false;
    Scan in(text);
    RankReport report;
    if (!read_process(in, report)) return false;
    report.state = topic_ == Topic::dead_processes ? "dead" : "unresponsive";
    give_rank(std::move(report));
    return true;
  }

  // Lines that only count what other lines name.
  static bool is_remark(std::string_view text) {
    return text.starts_with("Missing communicator data from ") ||
           text.starts_with("[could not find information on ") ||
           (text.starts_with("Encountered ") &&
            text.find(" communication timeout") != std::string_view::npos) ||
           text.find(" considered dead (unreachable via the RAS network)") !=
               std::string_view::npos;
  }

  void give_rank(RankReport report) {
    report.tool = kNcclras;
    give(std::move(report));
  }

  void give(Fact fact) {
    readings_->push_back(
        {{.fact = std::move(fact), .host = {}, .pid = 0, .device = -1, .time = std::nullopt},
         std::nullopt});
  }

  Topic topic_ = Topic::nothing;
  RankReport said_;  // what the lines so far say of the ranks that follow
  int group_ = 0;
  std::vector<Group> groups_;  // the rows of the table
  int foreign_ = 0;
  std::vector<DocumentReading>* readings_ = nullptr;
};

// #0-12 (00cf264af53edbe9) MISMATCH. A report may begin here if its beginning was not pasted.
bool names_communicator(std::string_view text) {
  Scan in(text);
  int number = 0;
  std::string_view hash;
  constexpr std::size_t kHashSize = 16;
  return in.skip("#") && in.decimal(number) && in.skip("-") && in.decimal(number) &&
         in.skip(" (") && in.until(')', hash) && hash.size() == kHashSize &&
         communicator_id_of(hash).has_value();
}

}  // namespace

bool begins_ncclras_text(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return false;
  switch (text.front()) {
    case 'J':
      return text == "Job summary";
    case 'C':
      return text.starts_with("Communicators... (");
    case '#':
      return names_communicator(text);
    default:
      return false;
  }
}

std::unique_ptr<Document> make_ncclras_text() { return std::make_unique<Report>(); }

bool parse_ncclras_event(std::string_view text, std::vector<Reading>& readings) {
  Scan in(text);
  std::string_view stamp;
  std::string_view event;
  Reading reading;
  if (in.skip("[") && (!in.until(']', stamp) || !in.skip(" "))) return false;
  if (!in.until(':', event) || !is_ncclras_event(event)) return false;
  if (!stamp.empty()) reading.time = parse_rfc3339(stamp);
  if (!stamp.empty() && !reading.time) return false;
  RankReport report{.tool = std::string(kNcclrasMonitor), .communicator_id = {}};
  report.state = process_state_of(event);
  if (in.skip(" ") && read_process(in, report) && !report.state.empty()) {
    reading.fact = std::move(report);
    readings.push_back(std::move(reading));
  }
  return true;
}

}  // namespace faultline
