#include "parsers/nccl/ncclras_json.h"

#include <algorithm>
#include <vector>

#include "parsers/nccl/ncclras_words.h"

namespace faultline {
namespace {

constexpr std::size_t kMaxOperations = 32;

std::optional<std::string_view> below(std::string_view path, std::string_view parent) {
  if (!path.starts_with(parent)) return std::nullopt;
  path.remove_prefix(parent.size());
  return path;
}

int small(const JsonValue& value, int otherwise) {
  const auto number = value.integer();
  return number && *number >= 0 && *number <= INT32_MAX ? static_cast<int>(*number) : otherwise;
}

std::int64_t pid_of(const JsonValue& value) { return std::max(value.integer().value_or(0), 0L); }

std::string host_of(const JsonValue& value) {
  return value.text == "unknown" ? std::string() : std::string(value.text);
}

// One rank, as far as it has been read.
struct Rank {
  RankReport report;
  KeptLine line;
  std::int64_t init_state = 0;
  std::int64_t async_error = 0;
  bool finalizing = false;
  bool aborted = false;
  bool unresponsive = false;
  bool dead = false;
  struct Count {
    std::string operation;
    std::uint64_t launched = 0;
    KeptLine line;
  };
  std::vector<Count> counts;
};

// States of ranks. The status of a communicator is the state of its ranks that comes last here.
constexpr std::string_view kStates[] = {"missing", "init", "running", "finalize", "abort"};
constexpr std::string_view kStatuses[] = {"NOCOMM", "INIT", "RUNNING", "FINALIZE", "ABORT"};

class Status : public JsonReport {
 public:
  Sense sense() const override { return sense_; }

  void key(std::string_view path) override {
    if (sense_ == Sense::mine) return;
    if (path != "nccl_version" && path != "communicators_count" && path != "communicators/hash" &&
        path != "communicators/ranks")
      return;
    sense_ = Sense::mine;
    give(ReportOpened{.tool = std::string(kNcclras), .names_all = true}, std::nullopt);
  }

  void value(std::string_view path, const JsonValue& value) override {
    if (path == "timestamp") time_ = parse_rfc3339(value.text);
    const auto of_communicator = below(path, "communicators/");
    if (!of_communicator) return;
    if (auto of_rank = below(*of_communicator, "ranks/"))
      rank_value(*of_rank, value);
    else if (auto of_missing = below(*of_communicator, "missing_ranks/"))
      rank_value(*of_missing, value);
    else
      communicator_value(*of_communicator, value);
  }

  void closed_object(std::string_view path) override {
    if (path == "communicators/ranks") {
      give_rank(state_of(rank_));
    } else if (path == "communicators/missing_ranks") {
      give_rank(rank_.dead ? "dead" : rank_.unresponsive ? "unresponsive" : "missing");
    } else if (path == "communicators") {
      give_communicator();
    }
  }

  std::size_t size() const override {
    std::size_t bytes = sizeof *this;
    for (const Rank::Count& count : rank_.counts) bytes += sizeof count + count.line.text.size();
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<std::int64_t>(sense_));
    saved.number(time_ ? time_->time_since_epoch().count() : 0);
    saved.text(communicator_.communicator_id);
    saved.number(communicator_.nranks);
    saved.number(communicator_.ranks_seen);
    saved.number(communicator_.ranks_missing);
    saved.number(static_cast<std::int64_t>(status_));
    saved.number(any_error_ ? 1 : 0);
    communicator_line_.save(saved);
    const RankReport& report = rank_.report;
    saved.number(report.rank);
    saved.text(report.host);
    saved.number(report.pid);
    saved.number(report.cuda_device);
    rank_.line.save(saved);
    saved.number(rank_.init_state);
    saved.number(rank_.async_error);
    saved.number((rank_.finalizing ? 1 : 0) + (rank_.aborted ? 2 : 0) +
                 (rank_.unresponsive ? 4 : 0) + (rank_.dead ? 8 : 0));
    saved.number(static_cast<std::int64_t>(rank_.counts.size()));
    for (const Rank::Count& count : rank_.counts) {
      saved.text(count.operation);
      saved.number(static_cast<std::int64_t>(count.launched));
      count.line.save(saved);
    }
  }

  void restore(SavedBytesReader& saved) override {
    sense_ = saved.number() == static_cast<std::int64_t>(Sense::mine) ? Sense::mine : Sense::unsure;
    if (const std::int64_t time = saved.number(); time != 0)
      time_ = Timestamp(std::chrono::microseconds(time));
    communicator_.communicator_id = saved.text();
    communicator_.nranks = saved.small_number();
    communicator_.ranks_seen = saved.small_number();
    communicator_.ranks_missing = saved.small_number();
    status_ =
        std::min<std::size_t>(static_cast<std::size_t>(saved.number()), std::size(kStatuses) - 1);
    any_error_ = saved.number() != 0;
    communicator_line_.restore(saved);
    RankReport& report = rank_.report;
    report.rank = saved.small_number();
    report.host = saved.text();
    report.pid = saved.number();
    report.cuda_device = saved.small_number();
    rank_.line.restore(saved);
    rank_.init_state = saved.number();
    rank_.async_error = saved.number();
    const std::int64_t flags = saved.number();
    rank_.finalizing = (flags & 1) != 0;
    rank_.aborted = (flags & 2) != 0;
    rank_.unresponsive = (flags & 4) != 0;
    rank_.dead = (flags & 8) != 0;
    const std::int64_t counts = saved.number();
    for (std::int64_t i = 0; i < counts && saved.ok(); ++i) {
      Rank::Count& count = rank_.counts.emplace_back();
      count.operation = saved.text();
      count.launched = static_cast<std::uint64_t>(saved.number());
      count.line.restore(saved);
    }
  }

 private:
  static std::string_view state_of(const Rank& rank) {
    if (rank.aborted) return "abort";
    if (rank.finalizing) return "finalize";
    return rank.init_state == 0 ? "running" : "init";
  }

  void communicator_value(std::string_view key, const JsonValue& value) {
    if (key == "hash") {
      communicator_.communicator_id = communicator_id_of(value.text).value_or("");
      communicator_line_.keep(line);
    } else if (key == "size") {
      communicator_.nranks = small(value, 0);
    } else if (key == "ranks_count") {
      communicator_.ranks_seen = small(value, 0);
    } else if (key == "missing_ranks_count") {
      communicator_.ranks_missing = small(value, 0);
    }
  }

  void rank_value(std::string_view key, const JsonValue& value) {
    RankReport& report = rank_.report;
    if (key == "rank") {
      report.rank = small(value, -1);
      rank_.line.keep(line);
    } else if (key == "host") {
      report.host = host_of(value);
    } else if (key == "pid") {
      report.pid = pid_of(value);
    } else if (key == "cuda_dev") {
      report.cuda_device = small(value, -1);
    } else if (key == "status/init_state") {
      rank_.init_state = value.integer().value_or(0);
    } else if (key == "status/async_error") {
      rank_.async_error = value.integer().value_or(0);
    } else if (key == "status/finalize_called" || key == "status/destroy_flag") {
      rank_.finalizing |= value.is_true();
    } else if (key == "status/abort_flag") {
      rank_.aborted = value.is_true();
    } else if (key == "status/unresponsive") {
      rank_.unresponsive = value.is_true();
    } else if (key == "status/considered_dead") {
      rank_.dead = value.is_true();
    } else if (auto operation = below(key, "collective_counts/")) {
      const auto launched = value.count();
      if (!launched || *launched == 0 || rank_.counts.size() == kMaxOperations) return;
      Rank::Count& count = rank_.counts.emplace_back();
      count.operation = *operation;
      count.launched = *launched;
      count.line.keep(line);
    }
  }

  // Reports the rank and what it launched. An operation that it never launched gives no fact.
  void give_rank(std::string_view state) {
    Rank rank = std::move(rank_);
    rank_ = {};
    RankReport& report = rank.report;
    if (report.rank < 0) return;
    report.tool = kNcclras;
    report.communicator_id = communicator_.communicator_id;
    report.nranks = communicator_.nranks;
    report.state = state;
    report.error = error_of_result(rank.init_state);
    if (report.error.empty()) report.error = error_of_result(rank.async_error);
    any_error_ |= !report.error.empty();
    const auto known = std::ranges::find(kStates, state);
    if (known != std::end(kStates))
      status_ = std::max(status_, static_cast<std::size_t>(known - std::begin(kStates)));
    give(report, rank.line);
    for (Rank::Count& count : rank.counts) {
      report.operation = std::move(count.operation);
      report.launched = count.launched;
      give(report, std::move(count.line));
    }
  }

  void give_communicator() {
    communicator_.tool = kNcclras;
    communicator_.status = kStatuses[status_];
    communicator_.errors = communicator_.ranks_missing > 0
                               ? any_error_ ? "INCOMPLETE,ERROR" : "INCOMPLETE"
                           : any_error_ ? "ERROR"
                                        : "OK";
    if (!communicator_.communicator_id.empty())
      give(std::move(communicator_), std::move(communicator_line_));
    communicator_ = {};
    communicator_line_ = {};
    status_ = 0;
    any_error_ = false;
  }

  void give(Fact fact, std::optional<KeptLine> kept) {
    if (readings == nullptr) return;
    readings->push_back(
        {{.fact = std::move(fact), .host = {}, .pid = 0, .device = -1, .time = time_},
         std::move(kept)});
  }

  Sense sense_ = Sense::unsure;
  std::optional<Timestamp> time_;
  CommunicatorReport communicator_;
  KeptLine communicator_line_;
  std::size_t status_ = 0;  // index into kStatuses
  bool any_error_ = false;
  Rank rank_;
};

class MonitorEvent : public JsonReport {
 public:
  Sense sense() const override { return sense_; }

  void key(std::string_view path) override {
    // Many logs are JSON that begins with a time; only the monitor's go on with a group.
    if (sense_ == Sense::unsure && ++keys_ > 1 && path != "group") sense_ = Sense::not_mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    if (path == "timestamp") {
      time_ = parse_rfc3339(value.text);
    } else if (path == "group") {
      if (sense_ != Sense::unsure) return;
      sense_ = value.text == "LIFECYCLE" || value.text == "TRACE" ? Sense::mine : Sense::not_mine;
    } else if (path == "event") {
      report_.state = process_state_of(value.text);
      line_.keep(line);
    } else if (path == "peer/host") {
      report_.host = host_of(value);
    } else if (path == "peer/pid") {
      report_.pid = pid_of(value);
    } else if (path == "peer/cuda_devs") {
      report_.cuda_device = ++devices_ == 1 ? small(value, -1) : -1;
    }
  }

  void closed_object(std::string_view path) override {
    if (!path.empty() || sense_ != Sense::mine || report_.state.empty() || report_.pid == 0) return;
    report_.tool = kNcclrasMonitor;
    readings->push_back(
        {{.fact = report_, .host = {}, .pid = 0, .device = -1, .time = time_}, line_});
  }

  std::size_t size() const override { return sizeof *this + line_.text.size(); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<std::int64_t>(sense_));
    saved.number(keys_);
    saved.number(time_ ? time_->time_since_epoch().count() : 0);
    saved.text(report_.state);
    saved.text(report_.host);
    saved.number(report_.pid);
    saved.number(report_.cuda_device);
    saved.number(devices_);
    line_.save(saved);
  }

  void restore(SavedBytesReader& saved) override {
    sense_ = saved.number() == static_cast<std::int64_t>(Sense::mine) ? Sense::mine : Sense::unsure;
    keys_ = saved.small_number();
    if (const std::int64_t time = saved.number(); time != 0)
      time_ = Timestamp(std::chrono::microseconds(time));
    report_.state = saved.text();
    report_.host = saved.text();
    report_.pid = saved.number();
    report_.cuda_device = saved.small_number();
    devices_ = saved.small_number();
    line_.restore(saved);
  }

 private:
  Sense sense_ = Sense::unsure;
  int keys_ = 0;
  std::optional<Timestamp> time_;
  RankReport report_;
  KeptLine line_;
  int devices_ = 0;
};

}  // namespace

bool begins_ncclras_status(std::string_view first_key) {
  return first_key == "nccl_version" || first_key == "communicators" ||
         first_key == "communicators_count";
}

std::unique_ptr<JsonReport> make_ncclras_status() { return std::make_unique<Status>(); }

bool begins_ncclras_event(std::string_view first_key) { return first_key == "timestamp"; }

std::unique_ptr<JsonReport> make_ncclras_event() { return std::make_unique<MonitorEvent>(); }

}  // namespace faultline
