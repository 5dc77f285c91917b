#include "accuracy/real.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "accuracy/embedded.h"
#include "model/cause.h"
#include "rules/answer/diagnosis_forms.h"

namespace faultline::accuracy {
namespace {

namespace json = boost::json;

constexpr double kStated = 0.5;
constexpr double kBlamed = 0.8;
constexpr std::string_view kNone = "none";

using ClassesOfLabel = std::map<std::string, std::vector<std::string>>;

const ClassesOfLabel& classes_of_labels() {
  static const ClassesOfLabel all = [] {
    ClassesOfLabel read;
    for (const EmbeddedFile& file : accuracy_files())
      if (file.name == "labels.yaml")
        for (const auto& row : YAML::Load(std::string(file.text)))
          read[row.first.as<std::string>()] = row.second.as<std::vector<std::string>>();
    return read;
  }();
  return all;
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::vector<std::string> texts_of(const json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  if (const json::value* value = object.if_contains(key); value != nullptr && value->is_array())
    for (const json::value& text : value->get_array()) texts.emplace_back(text.as_string());
  return texts;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Addresses, ranks, NICs and hosts in the free text of a label's culprit.
std::vector<std::string> parts_in(const std::string& culprit) {
  static const RE2 kPart(R"((\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}|\bmlx5_\d+|\b[a-z]+-\d{2,}\b))");
  static const RE2 kRanks(R"(\branks? ((?:\d+(?:, | and )?)+))");
  static const RE2 kNumber(R"((\d+))");
  std::vector<std::string> parts;
  std::string found;
  for (re2::StringPiece rest(culprit); RE2::FindAndConsume(&rest, kPart, &found);)
    parts.push_back(found);
  for (re2::StringPiece rest(culprit); RE2::FindAndConsume(&rest, kRanks, &found);)
    for (re2::StringPiece list(found); RE2::FindAndConsume(&list, kNumber, &found);)
      parts.push_back("rank " + found);
  return parts;
}

Label label_with_expectation(const json::object& row, const json::object& expected) {
  const std::string name = text_of(expected, "class");
  const auto known = classes_of_labels().find(name);
  if (known == classes_of_labels().end())
    throw std::runtime_error(fmt::format("accuracy/data/labels.yaml has no row for {}", name));
  Label label{.file = text_of(row, "file"), .classes = known->second};
  label.none_allowed = std::erase(label.classes, kNone) > 0;
  label.symptoms_allowed = name == "undetermined";
  if (!label.classes.empty()) label.parts = parts_in(text_of(expected, "culprit"));
  return label;
}

bool names(const Finding& cause, const std::string& part) {
  const Subject& its = cause.subject;
  if (part.starts_with("rank "))
    return std::ranges::any_of(its.ranks,
                               [&](int rank) { return part == fmt::format("rank {}", rank); });
  const auto has = [&](const std::string& text) { return text.find(part) != std::string::npos; };
  return has(cause.title) || std::ranges::any_of(its.hosts, has) ||
         std::ranges::any_of(its.gpus, has) || std::ranges::any_of(its.nics, has);
}

std::string in_short(const Diagnosis& diagnosis) {
  std::string text = boost::describe::enum_to_string(diagnosis.verdict, "?");
  for (const Finding& cause : diagnosis.root_causes)
    text += fmt::format(" | {} {:.2f} {}", cause.cause, cause.confidence, cause.title);
  return text;
}

bool is_right(const Diagnosis& diagnosis, const Label& label, std::string_view text) {
  const std::string verdict = boost::describe::enum_to_string(diagnosis.verdict, "?");
  if (!label.verdicts.empty() && std::ranges::find(label.verdicts, verdict) == label.verdicts.end())
    return false;
  if (std::ranges::any_of(label.says, [&](const std::string& it) {
        return text.find(it) == std::string_view::npos;
      }))
    return false;
  if (label.none_allowed && diagnosis.root_causes.empty()) return true;
  if (!label.classes.empty())
    return (!diagnosis.root_causes.empty() && is_of(diagnosis.root_causes.front(), label)) ||
           // A measurement that blames no part is stated as an observation.
           (!label.verdicts.empty() && diagnosis.root_causes.empty() &&
            std::ranges::any_of(diagnosis.observations,
                                [&](const Finding& it) { return is_of(it, label); }));
  return label.symptoms_allowed || !label.verdicts.empty() ||
         diagnosis.verdict == Verdict::healthy || diagnosis.verdict == Verdict::unknown;
}

}  // namespace

bool is_of(const Finding& cause, const Label& label) {
  return std::ranges::any_of(label.classes, [&](const std::string& wanted) {
    return name_of(cause.cause).starts_with(wanted);
  });
}

std::vector<Label> labels_of(std::string_view index_json) {
  std::vector<Label> labels;
  const json::value index = json::parse({index_json.data(), index_json.size()});
  for (const json::value& entry : index.as_array()) {
    const json::object& row = entry.as_object();
    if (const json::value* expected = row.if_contains("expected")) {
      labels.push_back(label_with_expectation(row, expected->as_object()));
      continue;
    }
    Label label{.file = text_of(row, "file"),
                .verdicts = texts_of(row, "verdict"),
                .says = texts_of(row, "text_says")};
    if (label.verdicts.empty())
      throw std::runtime_error(label.file + ": a label in an unknown form");
    if (const std::string wanted = text_of(row, "class"); !wanted.empty())
      label.classes = split(wanted, '|');
    label.symptoms_allowed = label.classes.empty();
    labels.push_back(std::move(label));
  }
  return labels;
}

Judged judge_real(const Diagnosis& diagnosis, const Label& label) {
  Judged judged{.answer = in_short(diagnosis)};
  const std::vector<Finding>& causes = diagnosis.root_causes;
  const bool right = is_right(diagnosis, label, to_text(diagnosis));
  const bool accused = std::ranges::any_of(causes, [&](const Finding& cause) {
    if (label.symptoms_allowed && is(cause.cause, Trait::symptom)) return false;
    return cause.confidence >= (label.classes.empty() ? kStated : kBlamed) && !is_of(cause, label);
  });
  const bool well = label.classes.empty() && label.verdicts.empty();
  judged.told = accused && (well || !right) ? Told::over_accused
                : right                     ? Told::right
                                            : Told::wrong;
  judged.parts_named = std::ranges::all_of(label.parts, [&](const std::string& part) {
    return std::ranges::any_of(causes, [&](const Finding& it) { return names(it, part); });
  });
  return judged;
}

std::string real_report(const Doctor& doctor, const std::filesystem::path& folder) {
  std::ostringstream index;
  index << std::ifstream(folder / "index.json").rdbuf();
  int right = 0;
  int wrong = 0;
  int over_accused = 0;
  int parts_missing = 0;
  std::string text;
  for (const Label& label : labels_of(index.str())) {
    const Judged judged = judge_real(doctor.diagnose_path(folder / label.file), label);
    right += judged.told == Told::right;
    wrong += judged.told == Told::wrong;
    over_accused += judged.told == Told::over_accused;
    parts_missing += judged.told == Told::right && !judged.parts_named;
    const std::string wanted =
        label.classes.empty() ? "nothing wrong" : fmt::format("{}", fmt::join(label.classes, "|"));
    if (judged.told != Told::right)
      text += fmt::format("{}: {}: wanted {} {}, got {}\n",
                          judged.told == Told::wrong ? "wrong" : "over-accused", label.file, wanted,
                          fmt::join(label.verdicts, "|"), judged.answer);
    else if (!judged.parts_named)
      text += fmt::format("part not named: {}: wanted {}, got {}\n", label.file,
                          fmt::join(label.parts, ", "), judged.answer);
  }
  return text + fmt::format(
                    "{}: {} logs: {} right ({} of them without naming the part), {} wrong, {} "
                    "over-accused\n",
                    folder.string(), right + wrong + over_accused, right, parts_missing, wrong,
                    over_accused);
}

}  // namespace faultline::accuracy
