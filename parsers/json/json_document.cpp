#include "parsers/json/json_document.h"

#include <algorithm>

#include "parsers/gpu/dcgmi_json.h"
#include "parsers/infiniband/mlxlink_json.h"
#include "parsers/infiniband/rdma_json.h"
#include "parsers/infiniband/sysfs_json.h"
#include "parsers/kubernetes/kubernetes_json.h"
#include "parsers/nccl/ncclras_json.h"
#include "parsers/network/ip_link_json.h"
#include "parsers/network/iperf3_json.h"
#include "parsers/performance/nccl_tests_json.h"
#include "parsers/scheduler/slurm_json.h"

namespace faultline {
namespace {

struct JsonDialect {
  std::string_view name;
  bool (*has_first_key)(std::string_view key);
  std::unique_ptr<JsonReport> (*create)();
};

constexpr JsonDialect kDialects[] = {
    {"ncclras", begins_ncclras_status, make_ncclras_status},
    {"ncclras", begins_ncclras_event, make_ncclras_event},
    {"dcgmi-diag", begins_dcgmi_diag_json, make_dcgmi_diag_json},
    {"dcgmi", begins_dcgmi_table_json, make_dcgmi_table_json},
    {"iperf3", begins_iperf3_json, make_iperf3_json},
    {"ip-link", begins_ip_link_json, make_ip_link_json},
    {"rdma", begins_rdma_json, make_rdma_json},
    {"mlxlink", begins_mlxlink_json, make_mlxlink_json},
    {"nccl-tests", begins_nccl_tests_json, make_nccl_tests_json},
    {"sysfs", begins_sysfs_json, make_sysfs_json},
    {"kubectl", begins_kubernetes_json, make_kubernetes_json},
    {"scontrol", begins_slurm_json, make_slurm_json},
};

bool is_first_key(std::string_view key) {
  return std::ranges::any_of(
      kDialects, [&](const JsonDialect& dialect) { return dialect.has_first_key(key); });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

class JsonDocument : public Document, private JsonSink {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::size_t before = readings.size();
    line_ = line;
    longest_ = std::max(longest_, line.whole.size());
    readings_ = &readings;
    aim();
    const JsonWalker::State state = walker_.read(line.text, *this);
    readings_ = nullptr;
    aim();
    settle();
    if (state == JsonWalker::State::complete && mine()) return Line::last;
    const bool refused = keyed_ && candidates_.empty();
    if (state == JsonWalker::State::inside && !refused) return Line::part;
    if (state == JsonWalker::State::inside_string && !candidates_.empty() && may_be_a_row())
      return Line::part;
    readings.resize(before);
    return Line::after;
  }

  std::string_view dialect() const override {
    return mine() ? candidates_.front().dialect->name : std::string_view();
  }

  std::size_t size() const override {
    std::size_t bytes = walker_.size();
    for (const Candidate& candidate : candidates_) bytes += candidate.report->size();
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    walker_.save(saved);
    saved.number(keyed_ ? 1 : 0);
    saved.number(std::ssize(candidates_));
    for (const Candidate& candidate : candidates_) {
      saved.number(candidate.dialect - kDialects);
      candidate.report->save(saved);
    }
    saved.number(static_cast<std::int64_t>(longest_));
  }

  void restore(SavedBytesReader& saved) override {
    walker_.restore(saved);
    keyed_ = saved.number() != 0;
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && i < std::ssize(kDialects); ++i) {
      const std::int64_t dialect = saved.number();
      if (dialect < 0 || dialect >= std::ssize(kDialects)) return;
      candidates_.push_back({&kDialects[dialect], kDialects[dialect].create()});
      candidates_.back().report->restore(saved);
    }
    longest_ = static_cast<std::size_t>(saved.number());
  }

 private:
  // A dialect that the document may have.
  struct Candidate {
    const JsonDialect* dialect;
    std::unique_ptr<JsonReport> report;
  };

  // Whether a terminal may have wrapped the line here: then no line of the document is longer. A
  // shorter line means that the report was cut off.
  bool may_be_a_row() const {
    constexpr std::size_t kNarrowest = 40;
    return line_.whole.size() >= std::max(longest_, kNarrowest);
  }

  void key(std::string_view path) override {
    if (!keyed_) {
      for (const JsonDialect& dialect : kDialects)
        if (dialect.has_first_key(path)) candidates_.push_back({&dialect, dialect.create()});
      keyed_ = true;
      aim();
    }
    for (const Candidate& candidate : candidates_) candidate.report->key(path);
    settle();
  }
  void value(std::string_view path, const JsonValue& value) override {
    for (const Candidate& candidate : candidates_) candidate.report->value(path, value);
    settle();
  }
  void closed_object(std::string_view path) override {
    for (const Candidate& candidate : candidates_) candidate.report->closed_object(path);
    settle();
  }

  bool mine() const {
    return !candidates_.empty() && candidates_.front().report->sense() == JsonReport::Sense::mine;
  }

  // The first candidate that says that the document is its own keeps it.
  void settle() {
    if (mine() && candidates_.size() == 1) return;
    std::erase_if(candidates_, [](const Candidate& candidate) {
      return candidate.report->sense() == JsonReport::Sense::not_mine;
    });
    const auto owner = std::ranges::find_if(candidates_, [](const Candidate& candidate) {
      return candidate.report->sense() == JsonReport::Sense::mine;
    });
    if (owner == candidates_.end()) return;
    Candidate kept = std::move(*owner);
    candidates_.clear();
    candidates_.push_back(std::move(kept));
  }

  void aim() {
    for (const Candidate& candidate : candidates_) {
      candidate.report->line = line_;
      candidate.report->readings = readings_;
    }
  }

  JsonWalker walker_;
  std::size_t longest_ = 0;  // the length of the longest line
  bool keyed_ = false;       // the first key was seen
  std::vector<Candidate> candidates_;
  DocumentLine line_;
  std::vector<DocumentReading>* readings_ = nullptr;
};

}  // namespace

bool begins_json_document(std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with('[')) text = without_blanks(text.substr(1));
  if (!text.starts_with('{')) return false;
  text = without_blanks(text.substr(1));
  if (text.empty()) return true;
  if (!text.starts_with('"')) return false;
  const std::string_view key = text.substr(1, text.find('"', 1) - 1);
  return is_first_key(key);
}

std::unique_ptr<Document> make_json_document() { return std::make_unique<JsonDocument>(); }

}  // namespace faultline
