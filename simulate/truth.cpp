#include "simulate/truth.h"

#include <boost/json.hpp>

#include "model/json.h"

namespace faultline::simulation {

std::string truth_json(const Truth& truth, const Options& options, std::string_view nccl_version) {
  const auto list = [](const auto& values) {
    boost::json::array array;
    for (const auto& value : values) array.emplace_back(value);
    return array;
  };
  const auto parts = [&](const Subject& subject) {
    return boost::json::object{
        {"hosts", list(subject.hosts)},
        {"ranks", list(subject.ranks)},
        {"gpus", list(subject.gpus)},
        {"nics", list(subject.nics)},
        {"communicators", list(subject.communicators)},
    };
  };
  boost::json::object json{
      {"scenario", options.scenario},
      {"class", truth.cause},
      {"subject", parts(truth.subject)},
      {"may_name", parts(truth.may_name)},
      {"healthy_twin", options.healthy},
      {"nccl_version", nccl_version},
      {"wrapper", options.wrapper},
      {"layout", name_of(options.layout)},
      {"seed", options.seed},
      {"nodes", options.nodes},
      {"gpus_per_node", options.gpus_per_node},
      {"tensor_parallel", options.tensor_parallel},
      {"pipeline_parallel", options.pipeline_parallel},
      {"steps", options.steps},
      {"attempts", options.attempts},
      {"lost_percent", options.lose_percent},
  };
  if (!truth.also.empty()) {
    boost::json::array also;
    for (const Truth& other : truth.also)
      also.push_back(boost::json::object{{"class", other.cause},
                                         {"subject", parts(other.subject)},
                                         {"may_name", parts(other.may_name)}});
    json["also"] = std::move(also);
  }
  std::string text = pretty(json);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace faultline::simulation
