#include "parsers/network/ip_link_json.h"

#include <algorithm>
#include <string>

#include "parsers/tool/part_json.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kKept[] = {"mtu",       "operstate", "master",  "link",   "qdisc",
                                      "link_type", "address",   "min_mtu", "max_mtu"};

class IpLink : public PartJson {
 public:
  IpLink() : PartJson("ip-link") {}

  void key(std::string_view path) override {
    if (sense_ != Sense::unsure) return;
    // rdma -j begins with the same keys.
    if (path == "port" || path == "state") sense_ = Sense::not_mine;
    if (path == "flags" || path == "mtu") sense_ = Sense::mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    if (path == "ifindex") {
      open("netdev").name("index", value.text);
      return;
    }
    if (last() == nullptr) return;
    OpenPart& part = *last();
    if (path == "ifname") return part.name("netdev", unescaped(value.text));
    if (path == "altnames") return part.name("altname", unescaped(value.text));
    if (path == "flags") {
      std::string flags(get(kFlags));
      if (!flags.empty()) flags += ',';
      return set(kFlags, flags + std::string(value.text));
    }
    if (std::ranges::find(kKept, path) != std::end(kKept))
      return part.value(path, unescaped(value.text));
    for (const std::string_view side : {"rx", "tx"}) {
      std::string_view counter = path;
      if ((take_front(counter, "stats64/") || take_front(counter, "stats/")) &&
          take_front(counter, side) && take_front(counter, "/"))
        part.value(std::string(side) + " / " + std::string(counter), value.text);
    }
  }

  // An interface ends: an element of the array that is the document.
  void closed_object(std::string_view path) override {
    if (!path.empty()) return;
    if (last() != nullptr && !get(kFlags).empty()) last()->value("flags", get(kFlags));
    set(kFlags, {});
    if (sense_ == Sense::mine) give_all();
  }

 private:
  enum Word { kFlags };
};

}  // namespace

bool begins_ip_link_json(std::string_view first_key) { return first_key == "ifindex"; }

std::unique_ptr<JsonReport> make_ip_link_json() { return std::make_unique<IpLink>(); }

}  // namespace faultline
