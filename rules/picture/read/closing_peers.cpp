#include "rules/picture/read/closing_peers.h"

#include <string_view>

#include "rules/picture/view.h"
#include "rules/state/remarks.h"

namespace faultline {

bool is_of_a_lost_peer(const MessageSignature& signature) {
  return signature.blames == Blames::peer &&
         (signature.cause == Cause::network_peer_lost || signature.weight == Weight::echo);
}

std::set<std::string> hosts_that_closed(const View& view) {
  std::set<std::string> closed;
  std::set<std::string> lost;
  for (const RemarkingProcess& process : view.job.remarks().processes()) {
    if (!view.in_attempt(process.process)) continue;
    for (const SaidRemark& said : process.said) {
      if (!said.warns()) continue;
      const auto match = view.catalog.signatures->match(said.remark);
      if (!match || !is_of_a_lost_peer(*match->signature)) continue;
      lost.insert(short_host(process.process.host));
      const auto field = match->fields.find("peer");
      if (field == match->fields.end()) continue;
      const std::string_view peer = field->second;
      std::string host = view.job.addresses().host_of_address(peer);
      if (host.empty()) host = short_host(peer.substr(0, peer.find('<')));
      closed.insert(std::move(host));
    }
  }
  for (const std::string& host : lost) closed.erase(host);
  return closed;
}

}  // namespace faultline
