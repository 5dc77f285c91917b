#include "parsers/infiniband/mlxlink_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "parsers/tool/part_saving.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kOutput = "result/output";

class MlxlinkJson : public JsonReport {
 public:
  Sense sense() const override { return sense_; }

  void key(std::string_view path) override {
    if (sense_ != Sense::unsure) return;
    if (path == kOutput)
      sense_ = Sense::mine;
    else if (path != "result" && path != "status" && !path.starts_with("status/"))
      sense_ = Sense::not_mine;
  }

  // result/output/Operational Info/State; lists have "/values" after their name.
  void value(std::string_view path, const JsonValue& value) override {
    if (!take_off(path, kOutput) || !take_off(path, "/")) return;
    const std::size_t slash = path.find('/');
    if (slash == path.npos) return;
    const bool of_what_it_could = path.substr(0, slash) == "Supported Info";
    path.remove_prefix(slash + 1);
    if (of_what_it_could && !path.starts_with("Enabled Link Speed/") &&
        !path.starts_with("Supported Cable Speed/"))
      return;
    if (path.ends_with("/mask")) return;
    if (path.ends_with("/values")) path.remove_suffix(7);
    const bool goes_on = path == last_name_;
    last_name_ = path.substr(0, 256);
    const std::string_view known = value_of(report_.values, path);
    if (goes_on)
      set_value(report_.values, path, std::string(known) + "," + std::string(value.text));
    else if (known.empty())
      set_value(report_.values, path, value.text);
  }

  void closed_object(std::string_view path) override {
    if (path != kOutput) return;
    PartReport report = std::exchange(report_, {});
    last_name_.clear();
    if (report.values.empty()) return;
    report.tool = "mlxlink";
    report.kind = "port";
    readings->push_back(
        {{.fact = std::move(report), .host = {}, .pid = 0, .device = -1, .time = std::nullopt},
         std::nullopt});
  }

  std::size_t size() const override { return size_of(report_) + last_name_.size(); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<std::int64_t>(sense_));
    saved.text(last_name_);
    save_part(saved, report_);
  }

  void restore(SavedBytesReader& saved) override {
    sense_ = static_cast<Sense>(
        std::clamp<std::int64_t>(saved.number(), 0, static_cast<std::int64_t>(Sense::not_mine)));
    last_name_ = saved.text();
    report_ = restored_part(saved);
  }

 private:
  Sense sense_ = Sense::unsure;
  std::string last_name_;  // of the last value, which may be an element of a list
  PartReport report_;
};

}  // namespace

bool begins_mlxlink_json(std::string_view key) { return key == "result" || key == "status"; }

std::unique_ptr<JsonReport> make_mlxlink_json() { return std::make_unique<MlxlinkJson>(); }

}  // namespace faultline
