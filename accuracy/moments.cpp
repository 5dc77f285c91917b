#include "accuracy/moments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "accuracy/each.h"
#include "accuracy/judgement.h"
#include "accuracy/served.h"
#include "model/json.h"
#include "rules/knowledge/limits.h"
#include "simulate/chance.h"
#include "simulate/simulate.h"

namespace faultline::accuracy {
namespace {

namespace json = boost::json;
using SteadyClock = std::chrono::steady_clock;

// Members of an answer that depend on how its lines were received.
constexpr std::string_view kOfReceipt[] = {"source", "offset"};

struct TestJob {
  const Family* family = nullptr;
  std::string name;
  Files files;
  Files contained;  // the same, as containers write it
  Wanted wanted;
};

// Jobs of one server must not share hosts: a fault of a host would count for the next job too.
class Renamed {
 public:
  explicit Renamed(std::size_t number)
      // As long as the name that it replaces: dumps store the lengths of their texts.
      : name_{'g', letter(number / 26 / 26), letter(number / 26), letter(number), '-', 'b', 'o',
              'x'} {}

  std::string in(std::string text) const {
    for (std::size_t at = 0; (at = text.find(kSimulated, at)) != std::string::npos;
         at += name_.size())
      text.replace(at, kSimulated.size(), name_);
    return text;
  }
  void in(Subject& subject) const {
    for (auto* names : {&subject.hosts, &subject.gpus, &subject.nics})
      for (std::string& one : *names) one = in(std::move(one));
  }
  void in(simulation::Truth& truth) const {
    in(truth.subject);
    in(truth.may_name);
    for (simulation::Truth& other : truth.also) in(other);
  }

 private:
  static constexpr std::string_view kSimulated = "gpu-node";
  static char letter(std::size_t number) { return static_cast<char>('a' + number % 26); }
  std::string name_;
};

Files files_of(simulation::Options options, const Renamed& renamed, simulation::Truth& truth) {
  simulation::MemoryOutput output;
  options = simulation::checked(options).value();
  truth = simulation::simulate(options, output);
  renamed.in(truth);
  Files files;
  constexpr std::string_view kLogs = "logs/";
  for (auto& [path, text] : output.files)
    if (path.starts_with(kLogs))
      files[renamed.in(path.substr(kLogs.size()))] = renamed.in(std::move(text));
  return files;
}

// A small job. Its lines have only the times that NCCL and PyTorch print; if only the time tells
// the job from one with the fault, every line gets one.
TestJob job_of(const Family& family, std::uint64_t seed, std::size_t number) {
  TestJob job{.family = &family, .name = family.name};
  std::ranges::replace_if(
      job.name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '-');
  simulation::Options options = family.options;
  options.seed = seed;
  options.nodes = 2;
  options.gpus_per_node = 4;
  options.steps = 10;
  if (options.twin == simulation::Twin::old) options.wrapper = "kubectl";
  simulation::Truth truth;
  job.files = files_of(options, Renamed(number), truth);
  job.wanted = wanted_of(family, options.nccl, truth);
  options.wrapper = "docker";
  job.contained = files_of(options, Renamed(number), truth);
  return job;
}

std::vector<Family> chosen(const std::vector<Family>& all, std::size_t every) {
  std::vector<Family> some;
  std::size_t number = 0;
  for (const Family& family : all)
    if ((family.group == Group::fault || family.group == Group::twin ||
         family.group == Group::healthy) &&
        number++ % every == 0)
      some.push_back(family);
  return some;
}

// A temporary folder, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "faultline-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Leaves only what two answers must share.
void leave_out_the_receipt(json::value& value) {
  if (json::array* array = value.if_array())
    for (json::value& element : *array) leave_out_the_receipt(element);
  json::object* object = value.if_object();
  if (object == nullptr) return;
  for (const std::string_view name : kOfReceipt) object->erase(name);
  // The command of missing evidence sends it to the server that answers, or writes it to a file.
  if (object->contains("why")) object->erase("command");
  for (auto& member : *object) leave_out_the_receipt(member.value());
}

// A container's log has times where the program printed none, so more can be known. Only the
// verdict, the classes and the parts must be the same.
json::value what_and_where(const json::value& answer) {
  json::array causes;
  for (const json::value& cause : answer.at("root_causes").as_array())
    causes.push_back({{"class", cause.at("class")}, {"subject", cause.at("subject")}});
  return {{"verdict", answer.at("verdict")}, {"causes", std::move(causes)}};
}

// The first difference of two answers, in words; empty: there is none.
std::string difference(const json::value& a, const json::value& b, const std::string& at) {
  if (a == b) return {};
  if (a.is_object() && b.is_object()) {
    for (const auto& member : a.get_object()) {
      const json::value* other = b.get_object().if_contains(member.key());
      if (other == nullptr)
        return fmt::format("{}.{} is missing", at, std::string_view(member.key()));
      std::string inside = difference(member.value(), *other, at + "." + std::string(member.key()));
      if (!inside.empty()) return inside;
    }
    return at + " has more";
  }
  if (a.is_array() && b.is_array() && a.get_array().size() == b.get_array().size()) {
    for (std::size_t i = 0; i < a.get_array().size(); ++i) {
      std::string inside =
          difference(a.get_array()[i], b.get_array()[i], fmt::format("{}[{}]", at, i));
      if (!inside.empty()) return inside;
    }
  }
  constexpr std::size_t kMost = 200;
  return fmt::format("{}: {} instead of {}", at, json::serialize(b).substr(0, kMost),
                     json::serialize(a).substr(0, kMost));
}

Diagnosis diagnosis_in(const json::object& answer) {
  Diagnosis diagnosis;
  boost::describe::enum_from_string(std::string(answer.at("verdict").as_string()).c_str(),
                                    diagnosis.verdict);
  for (const json::value& cause : answer.at("root_causes").as_array())
    if (auto finding = finding_from_json(json::serialize(cause)))
      diagnosis.root_causes.push_back(std::move(*finding));
  diagnosis.ranks.seen = answer.at("ranks").at("seen").to_number<int>();
  return diagnosis;
}

std::string told(const Finding& finding) {
  return fmt::format("{} ({:.2f}): {}", finding.cause, finding.confidence, finding.title);
}

std::vector<Finding> accused_in(const Diagnosis& diagnosis) {
  std::vector<Finding> accused;
  for (const Finding& finding : diagnosis.root_causes)
    if (finding.confidence >= limits::least_to_blame) accused.push_back(finding);
  return accused;
}

bool names_nobody(const Subject& subject) {
  return subject.hosts.empty() && subject.ranks.empty() && subject.gpus.empty() &&
         subject.nics.empty();
}

bool tells_a_fault(Verdict verdict) {
  return verdict == Verdict::hang || verdict == Verdict::failed || verdict == Verdict::slow ||
         verdict == Verdict::corrupt;
}

// One job that is sent in one way.
class Watched {
 public:
  Watched(const TestJob& job, WayScore& score) : job_(job), score_(score) {}

  void see(const Answer& answer) {
    const Diagnosis diagnosis = diagnosis_of(answer);
    ++score_.moments;
    ++seen_;
    if (job_.wanted.healthy()) {
      if (tells_a_fault(diagnosis.verdict)) note(score_.alarms, "verdict " + word(diagnosis));
      for (const Finding& accused : accused_in(diagnosis)) note(score_.alarms, told(accused));
    } else {
      if (diagnosis.verdict == Verdict::healthy && diagnosis.ranks.seen >= 2)
        note(score_.healthy, "healthy");
      const Score judged = judge(diagnosis, job_.wanted);
      for (std::size_t i = 0; i < diagnosis.root_causes.size(); ++i) {
        const Finding& cause = diagnosis.root_causes[i];
        if (cause.confidence >= limits::least_to_blame && !judged.stated[i].right &&
            !names_nobody(cause.subject))
          doubtful_.push_back({seen_, cause});
      }
    }
    for (const Finding& accused : accused_in(diagnosis))
      accused_.insert_or_assign(accused.id, told(accused));
  }

  void see_last(const Answer& answer, const json::value& wanted) {
    const Diagnosis last = diagnosis_of(answer);
    // A cause that the scenario does not have may still be true: it counts as wrong only if the
    // last answer, from all logs, does not state it.
    std::set<std::string> stated;
    for (const Finding& finding : accused_in(last)) stated.insert(finding.id);
    for (const auto& [moment, finding] : doubtful_)
      if (!stated.contains(finding.id))
        score_.innocent.push_back({job_.name, fmt::format("at {}: {}", moment, told(finding))});
    for (const auto& [id, what] : accused_)
      if (!stated.contains(id)) score_.withdrawn.push_back({job_.name, what});
    if (!job_.wanted.healthy() && last.verdict == Verdict::healthy)
      score_.healthy.push_back({job_.name, "at the end"});
    json::value found = json::parse(answer.body);
    leave_out_the_receipt(found);
    const bool dated = score_.way == Way::container;
    const std::string differs = dated
                                    ? difference(what_and_where(wanted), what_and_where(found), "")
                                    : difference(wanted, found, "");
    if (!differs.empty()) score_.otherwise.push_back({job_.name, differs});
  }

 private:
  Diagnosis diagnosis_of(const Answer& answer) const {
    if (answer.status != 200) return {};
    return diagnosis_in(json::parse(answer.body).as_object());
  }
  static std::string word(const Diagnosis& diagnosis) {
    return boost::describe::enum_to_string(diagnosis.verdict, "?");
  }
  void note(std::vector<MomentTrouble>& troubles, const std::string& what) {
    troubles.push_back({job_.name, fmt::format("at {}: {}", seen_, what)});
  }

  struct Doubtful {
    std::size_t moment;
    Finding finding;
  };
  const TestJob& job_;
  WayScore& score_;
  std::size_t seen_ = 0;
  std::map<std::string, std::string> accused_;
  std::vector<Doubtful> doubtful_;
};

void send(Served& server, const TestJob& job, Way way, std::uint64_t seed, Watched& watched) {
  const std::string ingest = "/api/v1/ingest?job=" + job.name;
  const std::string diagnosis = "/api/v1/jobs/" + job.name + "/diagnosis";
  std::map<int, std::unique_ptr<Served::Stream>> streams;
  std::size_t pieces = 0;
  for (const Sending& sending :
       sendings(way, way == Way::container ? job.contained : job.files, seed)) {
    if (sending.kill_before) server.kill_and_start();
    if (sending.stream < 0) {
      const Answer receipt =
          server.post(ingest + sending.query, sending.body, sending.type, sending.encoding);
      if (receipt.status != 200)
        throw std::runtime_error(fmt::format("{}: {}", job.name, receipt.body));
    } else {
      auto& stream = streams[sending.stream];
      if (!stream) stream = server.stream(ingest + sending.query);
      stream->say(sending.body);
      if (sending.ends_stream) stream->end();
      // A server's answer includes what a stream has brought when the stream pauses.
      constexpr std::size_t kBetweenPauses = 12;
      if (++pieces % kBetweenPauses == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds{250});
    }
    watched.see(server.get(diagnosis));
  }
}

// The answer of `faultline diagnose` for the same files in a folder, with random times of change.
json::value answer_of_a_folder(const std::string& program, const TestJob& job) {
  const Folder folder;
  std::uint64_t chosen = 1;
  for (const auto& [name, text] : job.files) {
    const std::filesystem::path path = folder.path() / "logs" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    const std::chrono::hours age(simulation::chance(chosen++) % 20000);
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
  }
  const std::string command = fmt::format("'{}' diagnose --format json --job '{}' '{}' 2>/dev/null",
                                          program, job.name, (folder.path() / "logs").string());
  std::string printed;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  std::array<char, 65536> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    printed.append(buffer.data(), n);
  pclose(pipe);
  json::value answer = json::parse(printed);
  leave_out_the_receipt(answer);
  return answer;
}

WayScore run_way(const Moments& wishes, const std::vector<TestJob>& jobs,
                 const std::vector<json::value>& wanted, Way way) {
  WayScore score{.way = way};
  const Folder folder;
  Served server(wishes.program, folder.path(),
                {"--stall-after", fmt::format("{}s", wishes.patience.count())});
  std::vector<std::pair<std::size_t, Watched>> watched;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ++score.jobs;
    watched.emplace_back(i, Watched(jobs[i], score));
    send(server, jobs[i], way, wishes.seed + i, watched.back().second);
  }
  std::this_thread::sleep_for(wishes.patience + std::chrono::seconds{2});
  for (auto& [i, job] : watched)
    job.see_last(server.get("/api/v1/jobs/" + jobs[i].name + "/diagnosis"), wanted[i]);
  return score;
}

}  // namespace

std::vector<WayScore> run_moments(const Moments& wishes, const std::vector<Family>& all) {
  const std::vector<Family> families = chosen(all, wishes.every);
  std::vector<TestJob> jobs;
  std::vector<json::value> wanted;
  for (const Family& family : families) {
    jobs.push_back(job_of(family, wishes.seed, jobs.size()));
    wanted.push_back(answer_of_a_folder(wishes.program, jobs.back()));
  }
  std::vector<WayScore> scores(std::size(kWays));
  for_each_number(scores.size(), wishes.threads,
                  [&](std::size_t i) { scores[i] = run_way(wishes, jobs, wanted, kWays[i]); });
  return scores;
}

std::string moment_tables(const std::vector<WayScore>& scores, bool list_all) {
  std::string text =
      "| way | jobs | moments | healthy with a fault | uninvolved part accused | fault in a "
      "healthy job | withdrawn | last answer differs |\n|---|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const WayScore& score : scores) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name_of(score.way),
                        score.jobs, score.moments, score.healthy.size(), score.innocent.size(),
                        score.alarms.size(), score.withdrawn.size(), score.otherwise.size());
  }
  if (!list_all) return text;
  for (const WayScore& score : scores)
    for (const auto& [what, troubles] :
         {std::pair("healthy", &score.healthy), std::pair("innocent", &score.innocent),
          std::pair("alarm", &score.alarms), std::pair("withdrawn", &score.withdrawn),
          std::pair("otherwise", &score.otherwise)})
      for (const MomentTrouble& trouble : *troubles)
        text +=
            fmt::format("{} | {} | {} | {}\n", what, name_of(score.way), trouble.job, trouble.what);
  return text;
}

bool all_is_well(const std::vector<WayScore>& scores) {
  return std::ranges::all_of(scores, [](const WayScore& score) {
    return score.healthy.empty() && score.innocent.empty() && score.alarms.empty() &&
           score.withdrawn.empty() && score.otherwise.empty();
  });
}

}  // namespace faultline::accuracy
