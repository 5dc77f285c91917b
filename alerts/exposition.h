// Writes Prometheus' text format 0.0.4, or OpenMetrics 1.0.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace faultline {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

enum class MetricsFormat { prometheus, openmetrics };

class Exposition {
 public:
  explicit Exposition(MetricsFormat format = MetricsFormat::prometheus) : format_(format) {}

  // Everything until the next family belongs to this one. type: counter, gauge or histogram.
  void family(std::string_view name, std::string_view type, std::string_view help);

  // `suffix`: "_bucket", "_sum", "_count" of a histogram.
  void sample(const Labels& labels, double value, std::string_view suffix = {});
  void sample(const Labels& labels, std::uint64_t value, std::string_view suffix = {});

  std::string take();

 private:
  void begin_sample(const Labels& labels, std::string_view suffix);

  MetricsFormat format_;
  std::string text_;
  std::string name_;
};

}  // namespace faultline
