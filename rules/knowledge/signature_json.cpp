#include "rules/knowledge/signature_json.h"

#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>

namespace faultline {
namespace json = boost::json;
namespace {

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

json::object json_of(const Action& action) {
  return {{"do", action.what}, {"where", action.where}, {"command", action.command}};
}

template <class Enum>
const char* word(Enum value) {
  return boost::describe::enum_to_string(value, "");
}

json::object json_of(const Storm& storm) {
  return {{"count", storm.count}, {"within", word(storm.within)}};
}

}  // namespace

json::value to_json(const MessageSignature& signature) {
  json::array actions;
  for (const Action& action : signature.actions) actions.push_back(json_of(action));
  return json::object{
      {"id", signature.id},
      {"class", name_of(signature.cause)},
      {"title", signature.title},
      {"severity", word(signature.severity)},
      {"weight", word(signature.weight)},
      {"blames", word(signature.blames)},
      {"confidence", signature.confidence},
      {"dialect", signature.dialect},
      {"levels", array_of(signature.levels)},
      {"place", signature.place},
      {"literals", array_of(signature.literals)},
      {"pattern", signature.pattern},
      {"versions", signature.versions},
      {"storm", signature.storm.count == 0 ? json::value() : json::value(json_of(signature.storm))},
      {"recovers", array_of(signature.recovers)},
      {"excuses", array_of(signature.excuses)},
      {"lasts", signature.lasts},
      {"marks", word(signature.marks)},
      {"actions", std::move(actions)},
      {"matches", array_of(signature.matches)},
      {"matches_not", array_of(signature.matches_not)},
      {"file", signature.file}};
}

}  // namespace faultline
