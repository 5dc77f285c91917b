// The nodes of Kubernetes, through its API. A node is taken by a taint, which the annotation beside
// it explains; the annotation holds the node's memory, and stays when the taint goes. Each change
// is of the version of the node that was looked at (resourceVersion), so it never overwrites
// another one.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "guard/guard_cluster.h"
#include "ship/server_link.h"

namespace faultline {

inline constexpr const char* kGuardTaint = "faultline/hardware";
inline constexpr const char* kGuardAnnotation = "faultline/guard";

class KubernetesCluster : public GuardedCluster {
 public:
  // `selector`: of labels; empty: all nodes. `usual_taints`: keys of taints that nodes have for
  // good.
  KubernetesCluster(ShipServer api, std::string selector,
                    std::vector<std::string> usual_taints = {});

  Result<std::vector<GuardNode>> nodes() override;
  Result<void> take(const std::string& node, const GuardFinding& finding,
                    const GuardMark& mark) override;
  Result<void> give_back(const std::string& node, const std::string& finding,
                         const std::string& why, Timestamp now) override;
  Result<void> settle(const std::string& node, Timestamp now) override;
  bool may_have_taken(const std::string&) override { return true; }

 private:
  // A change of the node as it is, as a merge patch; or why it must not be changed.
  using Change = std::function<Result<boost::json::object>(const boost::json::value& node)>;

  Result<std::string> get(const std::string& path);
  Result<void> change(const std::string& node, const Change& change);
  // Tells those who look at the node. Nothing depends on it.
  void tell(const std::string& node, const std::string& type, const std::string& reason,
            const std::string& message, Timestamp time);

  ServerLink link_;
  std::string selector_;
  std::vector<std::string> usual_taints_;
};

}  // namespace faultline
