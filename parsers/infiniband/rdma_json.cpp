#include "parsers/infiniband/rdma_json.h"

#include <algorithm>
#include <utility>

#include "parsers/tool/part_saving.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

class RdmaJson : public JsonReport {
 public:
  Sense sense() const override { return sense_; }

  void key(std::string_view path) override {
    // `ip -j link` begins in the same way, but has no port numbers.
    if (sense_ == Sense::unsure && path != "ifindex" && path != "ifname")
      sense_ = path == "port" ? Sense::mine : Sense::not_mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    if (path.find('/') != path.npos) return;
    if (path == "ifname") {
      const std::size_t slash = value.text.find('/');
      set_name(report_.names, "device", value.text.substr(0, slash));
      if (slash != value.text.npos) {
        set_name(report_.names, "port", value.text.substr(slash + 1));
        sense_ = Sense::mine;
      }
    } else if (path == "port") {
      set_name(report_.names, "port", value.text);
    } else if (path == "cntn" || path == "lqpn" || path == "qp-type") {
      of_queue_ = true;  // counters of a queue pair, not of the port
    } else if (path != "ifindex") {
      if (path == "state") report_.tool = kRdmaLink;
      add_rdma_value(report_, path, value.text);
    }
  }

  void closed_object(std::string_view path) override {
    if (!path.empty()) return;
    PartReport report = std::move(report_);
    report_ = {};
    if (std::exchange(of_queue_, false) || sense_ != Sense::mine || report.values.empty()) return;
    report.kind = "port";
    if (report.tool.empty()) report.tool = kRdmaStatistic;
    readings->push_back(
        {{.fact = std::move(report), .host = {}, .pid = 0, .device = -1, .time = std::nullopt},
         std::nullopt});
  }

  std::size_t size() const override { return size_of(report_); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<std::int64_t>(sense_));
    saved.number(of_queue_ ? 1 : 0);
    save_part(saved, report_);
  }

  void restore(SavedBytesReader& saved) override {
    sense_ = static_cast<Sense>(
        std::clamp<std::int64_t>(saved.number(), 0, static_cast<std::int64_t>(Sense::not_mine)));
    of_queue_ = saved.number() != 0;
    report_ = restored_part(saved);
  }

 private:
  Sense sense_ = Sense::unsure;
  bool of_queue_ = false;
  PartReport report_;
};

}  // namespace

bool begins_rdma_json(std::string_view key) { return key == "ifindex"; }

std::unique_ptr<JsonReport> make_rdma_json() { return std::make_unique<RdmaJson>(); }

}  // namespace faultline
