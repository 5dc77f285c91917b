// Names and lines in answers are text of strangers. Whatever they contain, they become no markup,
// move no cursor, begin no line of their own, and leave the JSON readable.
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/json.h"
#include "oracle.h"
#include "parsers/torch/pickle.h"
#include "rules/answer/diagnosis_forms.h"

namespace {

using namespace faultline;

// Marks that no form writes by itself. The bytes between them are the dangerous ones.
constexpr std::string_view kMark = "qz";
constexpr std::string_view kEnd = "zq";

class Strangers {
 public:
  Strangers(const std::uint8_t* data, std::size_t size) : input_(data, size) {}

  std::uint8_t number() { return input_.byte(); }
  std::size_t some() { return input_.byte() % 4; }
  bool any() { return input_.byte() % 2 == 0; }

  std::string text() {
    constexpr std::string_view kTricks[] = {"<",  ">",   "\"",   "&",        "\n",   "\r",
                                            "|",  "`",   "\x1b", "\xc3\x28", "<!--", "'",
                                            "\\", "\t*", "](",   "\x7f"};
    const std::string_view trick = kTricks[input_.byte() % std::size(kTricks)];
    return fmt::format("{}{}{}{}", kMark, trick, kEnd, input_.text());
  }

  std::vector<std::string> texts() {
    std::vector<std::string> texts(some());
    for (std::string& one : texts) one = text();
    return texts;
  }

  std::optional<Timestamp> time() {
    if (any()) return std::nullopt;
    return Timestamp(std::chrono::seconds(1'700'000'000 + 1000 * input_.byte()));
  }

 private:
  Input input_;
};

Action action_of(Strangers& say) {
  return {.what = say.text(), .where = say.text(), .command = say.any() ? say.text() : ""};
}

Finding finding_of(Strangers& say) {
  Finding finding;
  finding.id = fmt::format("f{}", say.number());
  finding.cause = static_cast<Cause>(1 + say.number() % 40);
  finding.title = say.text();
  finding.confidence = say.number() % 9 / 8.0;  // eighths are exact in every JSON reader
  finding.subject = {.hosts = say.texts(),
                     .ranks = {say.number(), say.number()},
                     .gpus = say.texts(),
                     .nics = say.texts(),
                     .communicators = say.texts()};
  finding.first_seen = say.time();
  finding.last_seen = say.time();
  for (std::size_t left = say.some(); left > 0; --left)
    finding.evidence.push_back({.source = say.text(),
                                .line = say.number(),
                                .offset = say.number(),
                                .time = say.time(),
                                .text = say.text()});
  finding.against = say.texts();
  for (std::size_t left = say.some(); left > 0; --left) finding.actions.push_back(action_of(say));
  return finding;
}

std::vector<Finding> findings_from(Strangers& say) {
  std::vector<Finding> findings;
  for (std::size_t left = say.some(); left > 0; --left) findings.push_back(finding_of(say));
  return findings;
}

Diagnosis diagnosis_of(Strangers& say) {
  Diagnosis diagnosis;
  diagnosis.job = say.text();
  diagnosis.verdict = static_cast<Verdict>(say.number() % 8);
  diagnosis.summary = say.text();
  diagnosis.root_causes = findings_from(say);
  diagnosis.symptoms = findings_from(say);
  diagnosis.observations = findings_from(say);
  diagnosis.so_far = findings_from(say);
  diagnosis.checklist = {{.check = say.text(),
                          .status = static_cast<CheckStatus>(say.number() % 3),
                          .detail = say.text(),
                          .command = say.text()}};
  diagnosis.missing_evidence = {{.what = say.text(),
                                 .why = say.text(),
                                 .command = say.text(),
                                 .file = say.text(),
                                 .query = say.any() ? say.text() : ""}};
  diagnosis.next_time = {{.set = say.text(), .why = say.text()}};
  diagnosis.coverage = {{.host = say.text(), .ranks = {1, 2}, .lines = {{say.text(), 3}}}};
  diagnosis.timeline = {
      {.time = say.time(), .host = say.text(), .what = say.text(), .finding = "f1"}};
  diagnosis.clock_offsets = {{.host = say.text(), .seconds = 2.5, .basis = say.text()}};
  diagnosis.exclude = {.hosts = say.texts(), .slurm = say.text(), .kubernetes = say.text()};
  diagnosis.explanation.findings = {
      {.finding = "f1", .title = say.text(), .detector = "d", .why = say.text()}};
  return diagnosis;
}

bool holds(std::string_view text, std::string_view between) {
  return text.find(fmt::format("{}{}{}", kMark, between, kEnd)) != std::string_view::npos;
}

void check_text(const std::string& text) {
  require(is_utf8(text), "text is UTF-8");
  require(!has_control_characters(text, true), "text moves no cursor");
  require(!holds(text, "\n") && !holds(text, "\r"), "no text begins a line");
}

void check_html(const std::string& html) {
  require(is_utf8(html), "HTML is UTF-8");
  require(!has_control_characters(html, true), "HTML holds no control characters");
  for (const std::string_view markup : {"<", ">", "\"", "&", "<!--"})
    require(!holds(html, markup), "no text becomes markup");
}

// Removes code: in code no character is markup.
std::string without_code(std::string_view markdown) {
  std::string out;
  bool fenced = false;
  while (!markdown.empty()) {
    const std::string_view line = markdown.substr(0, markdown.find('\n'));
    markdown.remove_prefix(std::min(markdown.size(), line.size() + 1));
    if (line.starts_with("~~~")) fenced = !fenced;
    if (fenced || line.starts_with("    ")) continue;
    bool code = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!code && line[i] == '\\' && i + 1 < line.size())
        out += line.substr(i++, 2);
      else if (line[i] == '`')
        code = !code;
      else if (!code)
        out += line[i];
    }
    require(!code, "code that begins in a line ends in it");
    out += '\n';
  }
  require(!fenced, "code that begins ends");
  return out;
}

void check_markdown(const std::string& markdown) {
  require(is_utf8(markdown), "Markdown is UTF-8");
  require(!has_control_characters(markdown, true), "Markdown holds no control characters");
  require(!holds(markdown, "\n"), "no text begins a line");
  const std::string text = without_code(markdown);
  for (const std::string_view markup : {"<", "<!--", "](", "|", "`"})
    require(!holds(text, markup), "no text becomes markup of Markdown");
}

void check_json(const boost::json::value& value) {
  const std::string text = compact(value);
  require(is_utf8(text), "JSON is UTF-8");
  require(!has_control_characters(text, false), "JSON is one line");
  boost::system::error_code error;
  const boost::json::value again = boost::json::parse(text, error);
  require(!error, "JSON can be read");
  if (compact(again) != text)
    std::fprintf(stderr, "%s\n%s\n", text.c_str(), compact(again).c_str());
  require(compact(again) == text, "JSON that was read and written is the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Strangers say(data, size);
  const Diagnosis diagnosis = diagnosis_of(say);
  check_text(to_text(diagnosis));
  check_text(to_text(diagnosis, true));
  check_text(to_text(diagnosis.explanation));
  check_markdown(to_markdown(diagnosis));
  check_html(to_html(diagnosis, {}));
  check_json(to_json(diagnosis));
  for (const Finding& finding : diagnosis.root_causes) {
    const std::string text = compact(to_json(finding));
    const auto again = finding_from_json(text);
    require(again.has_value(), "a stored finding can be read");
    require(compact(to_json(*again)) == text, "and is the same");
  }
  return 0;
}
