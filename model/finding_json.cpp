// Findings read back from their JSON.
#include <fmt/format.h>

#include <boost/describe.hpp>
#include <boost/json.hpp>

#include "model/json.h"

namespace faultline {
namespace {

namespace json = boost::json;

// Reads the fields of one object, all of which must be there. A field that is missing or of the
// wrong kind reads as empty; the first of these is remembered.
class Fields {
 public:
  Fields(const json::value& value, std::string& error) : error_(error) {
    object_ = value.if_object();
    if (object_ == nullptr) fail("an object");
  }

  bool has(const char* name) const { return field(name) != nullptr; }

  std::string text(const char* name) {
    const json::value* value = field(name);
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
    fail(name);
    return {};
  }

  template <class Number>
  Number number(const char* name) {
    const json::value* value = field(name);
    boost::system::error_code wrong;
    const Number number =
        value != nullptr && value->is_number() ? value->to_number<Number>(wrong) : Number{};
    if (value == nullptr || !value->is_number() || wrong) fail(name);
    return number;
  }

  bool truth(const char* name) {
    const json::value* value = field(name);
    if (value != nullptr && value->is_bool()) return value->get_bool();
    fail(name);
    return false;
  }

  std::optional<Timestamp> time(const char* name) {
    const json::value* value = field(name);
    if (value != nullptr && value->is_null()) return std::nullopt;
    const auto time = parse_rfc3339(text(name));
    if (!time) fail(name);
    return time;
  }

  template <class Enum>
  Enum word(const char* name) {
    Enum value{};
    if (!boost::describe::enum_from_string(text(name).c_str(), value)) fail(name);
    return value;
  }

  std::vector<std::string> words(const char* name) {
    std::vector<std::string> words;
    for (const json::value& value : array(name)) {
      if (value.is_string())
        words.emplace_back(value.get_string());
      else
        fail(name);
    }
    return words;
  }

  std::vector<int> numbers(const char* name) {
    std::vector<int> numbers;
    for (const json::value& value : array(name)) {
      boost::system::error_code wrong;
      numbers.push_back(value.is_number() ? value.to_number<int>(wrong) : 0);
      if (!value.is_number() || wrong) fail(name);
    }
    return numbers;
  }

  const json::array& array(const char* name) {
    static const json::array empty;
    const json::value* value = field(name);
    if (value != nullptr && value->is_array()) return value->get_array();
    fail(name);
    return empty;
  }

  Fields object(const char* name) {
    static const json::value null;
    const json::value* value = field(name);
    return Fields(value != nullptr ? *value : null, error_);
  }

 private:
  const json::value* field(const char* name) const {
    return object_ != nullptr ? object_->if_contains(name) : nullptr;
  }

  void fail(const char* what) {
    if (error_.empty()) error_ = what;
  }

  const json::object* object_ = nullptr;
  std::string& error_;
};

Subject subject_from(Fields fields) {
  return {.hosts = fields.words("hosts"),
          .ranks = fields.numbers("ranks"),
          .gpus = fields.words("gpus"),
          .nics = fields.words("nics"),
          .communicators = fields.words("communicators")};
}

Evidence evidence_from(Fields fields) {
  return {.source = fields.text("source"),
          .line = fields.number<std::uint64_t>("line"),
          .offset = fields.number<std::uint64_t>("offset"),
          .time = fields.time("time"),
          .text = fields.text("text")};
}

Action action_from(Fields fields) {
  return {
      .what = fields.text("do"), .where = fields.text("where"), .command = fields.text("command")};
}

}  // namespace

Result<Finding> finding_from_json(std::string_view text) {
  boost::system::error_code syntax;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), syntax);
  if (syntax) return Error{Error::Kind::invalid_input, "finding: " + syntax.message()};

  std::string wrong;
  Fields fields(value, wrong);
  Finding finding{.id = fields.text("finding"),
                  .cause = cause_named(fields.text("class")),
                  .title = fields.text("title"),
                  .severity = fields.word<Severity>("severity"),
                  .confidence = fields.number<double>("confidence"),
                  .subject = subject_from(fields.object("subject")),
                  .first_seen = fields.time("first_seen"),
                  .last_seen = fields.time("last_seen"),
                  .count = fields.number<std::uint64_t>("count"),
                  .explains = fields.words("explains"),
                  .state = fields.word<FindingState>("state"),
                  .part_of_job = fields.truth("part_of_job")};
  // Findings that an older Faultline stored do not have these.
  if (fields.has("zone_assumed")) finding.zone_assumed = fields.truth("zone_assumed");
  if (fields.has("against")) finding.against = fields.words("against");
  if (fields.has("remedy")) finding.remedy = fields.text("remedy");
  for (const json::value& element : fields.array("evidence"))
    finding.evidence.push_back(evidence_from(Fields(element, wrong)));
  for (const json::value& element : fields.array("actions"))
    finding.actions.push_back(action_from(Fields(element, wrong)));
  if (!wrong.empty())
    return Error{Error::Kind::invalid_input,
                 fmt::format("finding: {} is missing or of the wrong kind", wrong)};
  return finding;
}

}  // namespace faultline
