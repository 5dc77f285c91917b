#include "parsers/network/iperf3_json.h"

#include <string>

#include "parsers/tool/part_json.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// The values that are kept. The rest repeats them for each stream and each second.
constexpr std::string_view kKept[] = {"start/test_start/", "end/sum/", "end/sum_sent/",
                                      "end/sum_received/", "end/cpu_utilization_percent/"};

std::string with_blanks(std::string_view path) {
  std::string name;
  for (const char c : path) {
    if (c == '/')
      name += " / ";
    else
      name += c;
  }
  return name;
}

class Iperf3 : public PartJson {
 public:
  Iperf3() : PartJson("iperf3") {}

  void key(std::string_view path) override {
    if (sense_ == Sense::unsure && path != "start")
      sense_ = path == "start/connected" ? Sense::mine : Sense::not_mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    if (path == "start/connected/local_host") return name("from", value.text);
    if (path == "start/connected/remote_host") return name("to_address", value.text);
    if (path == "start/connecting_to/host") return name("to", value.text);
    if (path == "start/connecting_to/port") return name("port", value.text);
    if (path == "start/timestamp/timesecs") {
      constexpr std::int64_t kYear2200 = 7'258'118'400;
      if (const auto seconds = value.integer(); seconds && *seconds > 0 && *seconds < kYear2200)
        time_ = Timestamp(std::chrono::seconds(*seconds));
      return;
    }
    if (path == "error") return path_part().value(path, unescaped(value.text));
    if (path == "intervals/streams/pmtu") {
      if (!path_part().has_value("intervals / streams / pmtu"))
        path_part().value("intervals / streams / pmtu", value.text);
      return;
    }
    if (path.ends_with("/sender")) return;  // true on both sides
    for (const std::string_view kept : kKept)
      if (path.starts_with(kept)) path_part().value(with_blanks(path), value.text);
  }

  void closed_object(std::string_view path) override {
    if (path.empty() && sense_ == Sense::mine) give_all();
  }

 private:
  OpenPart& path_part() { return last() != nullptr ? *last() : open("path"); }
  void name(std::string_view name, std::string_view value) { path_part().name(name, value); }
};

}  // namespace

bool begins_iperf3_json(std::string_view first_key) { return first_key == "start"; }

std::unique_ptr<JsonReport> make_iperf3_json() { return std::make_unique<Iperf3>(); }

}  // namespace faultline
