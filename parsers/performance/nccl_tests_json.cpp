#include "parsers/performance/nccl_tests_json.h"

#include <algorithm>
#include <optional>
#include <string>

#include "parsers/performance/nccl_tests_run.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using tool_text::real;

constexpr std::size_t kEvidenceBytes = 120;

bool is_top_key(std::string_view key) {
  constexpr std::string_view kKeys[] = {
      "version", "start_time",    "args",
      "env",     "nccl_version",  "config",
      "results", "out_of_bounds", "average_bus_bandwidth",
      "errors",  "end_time",      "average_bus_bandwidith"};  // 2.17 misspells it
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

class NcclTestsJson : public JsonReport {
 public:
  Sense sense() const override { return sense_; }

  void key(std::string_view path) override {
    if (sense_ != Sense::unsure || path.find('/') != std::string_view::npos) return;
    if (!is_top_key(path)) sense_ = Sense::not_mine;
    if (path == "config" && !run_.program.empty()) sense_ = Sense::mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    const std::string_view text = value.text;
    // Do not read the environment: it may have secrets.
    if (path.starts_with("env")) return;
    if (path == "args" && run_.program.empty()) {
      const std::string_view name = text.substr(text.rfind('/') + 1);
      run_.program = name.substr(0, NcclTestsRun::kMostWord);
    } else if (path == "config/devices/hostname") {
      host_ = text.substr(0, NcclTestsRun::kMostWord);
    } else if (path == "config/devices/device_info") {
      gpu_ = text.substr(0, NcclTestsRun::kMostWord);
    } else if (path == "results/size") {
      row_.size = value.count().value_or(0);
    } else if (path.starts_with("results/out_of_place/")) {
      measured(0, path.substr(path.rfind('/') + 1), text);
    } else if (path.starts_with("results/in_place/")) {
      measured(1, path.substr(path.rfind('/') + 1), text);
    } else if (path == "out_of_bounds/count") {
      run_.out_of_bounds = text.substr(0, NcclTestsRun::kMostWord);
    } else if (path == "out_of_bounds/okay") {
      judge(run_.out_of_bounds, text == "true" ? " OK" : " FAILED");
    } else if (path.ends_with("/bandwidth") || path.ends_with("/bandwidith")) {
      run_.average = text.substr(0, NcclTestsRun::kMostWord);
    } else if (path.starts_with("average_bus_") && path.ends_with("/okay")) {
      if (text == "false") judge(run_.average, " FAILED");
    }
  }

  void closed_object(std::string_view path) override {
    if (path == "config/devices" && !host_.empty()) {
      run_.add_device(host_, gpu_);
      host_.clear();
      gpu_.clear();
    } else if (path == "results") {
      DocumentLine without_environment = line;
      without_environment.whole =
          line.whole.substr(0, std::min(line.whole.find("\"env\""), kEvidenceBytes));
      run_.add(row_, without_environment);
      row_ = {};
    } else if (path.empty() && sense_ == Sense::mine && readings != nullptr) {
      if (run_.wrong_line.number == 0) run_.wrong_line = run_.largest_line;
      run_.give(*readings);
    }
  }

  std::size_t size() const override { return run_.size() + host_.size() + gpu_.size(); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<int>(sense_));
    saved.text(host_);
    saved.text(gpu_);
    // The unfinished row is saved as the largest row of a run.
    NcclTestsRun row;
    row.largest = row_;
    row.checked = row_.measured;
    row.save(saved);
    for (const auto& wrong : row_.wrong) {
      saved.number(wrong ? 1 : 0);
      saved.text(std::to_string(wrong.value_or(0)));
    }
    run_.save(saved);
  }
  void restore(SavedBytesReader& saved) override {
    sense_ = static_cast<Sense>(std::clamp(saved.small_number(), 0, 2));
    host_ = saved.text();
    gpu_ = saved.text();
    NcclTestsRun row;
    row.restore(saved);
    row_ = row.largest;
    row_.measured = row.checked;
    for (auto& wrong : row_.wrong) {
      const bool told = saved.number() != 0;
      wrong = real(saved.text());
      if (!told) wrong = std::nullopt;
    }
    run_.restore(saved);
  }

 private:
  void measured(std::size_t group, std::string_view name, std::string_view text) {
    const auto number = real(text);
    if (!number) return;
    if (name == "alg_bw") row_.algbw[group] = *number;
    if (name == "bus_bw") row_.busbw[group] = *number;
    if (name == "bus_bw") row_.measured = true;
    if (name == "nwrong") row_.wrong[group] = number;
  }

  // Adds the verdict only once, even if the key occurs again.
  static void judge(std::string& number, std::string_view verdict) {
    if (number.find(' ') == std::string::npos) number += verdict;
  }

  Sense sense_ = Sense::unsure;
  NcclTestsRun run_;
  NcclTestsRow row_;
  std::string host_;
  std::string gpu_;
};

}  // namespace

bool begins_nccl_tests_json(std::string_view first_key) { return first_key == "version"; }

std::unique_ptr<JsonReport> make_nccl_tests_json() { return std::make_unique<NcclTestsJson>(); }

}  // namespace faultline
