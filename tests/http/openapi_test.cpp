// /openapi.json compared with the real server: each path and method, with right and wrong values of
// each parameter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "curl.h"
#include "failing_host.h"
#include "http/openapi.h"
#include "http/router.h"
#include "json_schema.h"
#include "model/finding.h"
#include "raw_client.h"
#include "rules/knowledge/signatures.h"
#include "server_process.h"
#include "store/store.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::IsEmpty;

struct Heard {
  int status = 0;
  std::string type;  // the media type without parameters
  std::string body;
};

std::string after_name(const std::string& head, const std::string& name) {
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 4;
  return head.substr(begin, head.find_first_of(";\r", begin) - begin);
}

std::string percent(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c)
                                                            : fmt::format("%{:02X}", c);
  return out;
}

// An operation of the document, as a test asks for it.
struct Operation {
  std::string method;  // GET
  std::string path;    // with {names} as in the document
  const json::object* said = nullptr;

  std::vector<const json::object*> parameters(std::string_view place) const {
    std::vector<const json::object*> all;
    for (const json::value& parameter : said->at("parameters").as_array())
      if (parameter.at("in").as_string() == place) all.push_back(&parameter.as_object());
    return all;
  }
};

// Values to try for a parameter.
struct Values {
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

// Values that follow from the schema; none for a free text.
Values values_by(const json::object& schema) {
  const std::string type(schema.at("type").as_string());
  if (type == "boolean") return {{"true", "false"}, {"maybe", ""}};
  if (type == "array") {
    Values values = values_by(schema.at("items").as_object());
    values.good.push_back(values.good[0] + "," + values.good[1]);
    values.bad.push_back(values.good[0] + ",");
    return values;
  }
  Values values;
  if (type == "integer") {
    values.bad = {"x", "1.5", "", "99999999999999999999"};
    const auto limit = [&](const char* name, std::int64_t beyond) {
      if (const json::value* is = schema.if_contains(name)) {
        values.good.push_back(std::to_string(is->as_int64()));
        values.bad.push_back(std::to_string(is->as_int64() + beyond));
      }
    };
    limit("minimum", -1);
    limit("maximum", 1);
  } else if (const json::value* words = schema.if_contains("enum")) {
    for (const json::value& word : words->as_array()) values.good.emplace_back(word.as_string());
    values.bad = {"none-such", ""};
  }
  return values;
}

using Query = std::map<std::string, std::string>;

// A server with jobs of several kinds, which are made once for all tests.
class OpenApiServer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    workshop = std::make_unique<Workshop>();
    server = std::make_unique<ServerProcess>(workshop->folder());
    simulate("llama", "gpu_off_bus");
    simulate("fine", "healthy_unused_port");
    simulate("again", "healthy_restart");
    simulate("set", "environment_mismatch");
    simulate("sends", "p2p_mismatch_missing_recv");
    simulate("doomed", "oom_killed");
    simulate("stopped", "rank_behind");
    simulate("recorded", "rank_behind", "--nodes 2 --evidence dumps");
    // A host whose clock is ten minutes ahead.
    simulate("clocks", "healthy", "--nodes 3 --gpus-per-node 2 --wrapper cri",
             "sed -i 's/T02:0/T02:1/' clocks/logs/gpu-node-2/nccl*");
    for (const std::string day : {"2026-03-01", "2026-03-05"})
      for (const auto& [part, log] :
           {std::pair{"gpu", off_bus(day)}, {"port", readings(day)}, {"host", switch_fault(day)}}) {
        const std::string job = fmt::format("{}-{}", part, day);
        post("job=" + job + "&source=nccl&final=true", nccl_log());
        post("job=" + job + "&source=dmesg&final=true&host=" + kFailingHost, log);
      }
    post("job=live&host=gpu-9&source=dmesg",
         "[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 48, pid=4021, DBE (double bit error)\n");
    post("job=odd&final=true", "the cake could not be baked\n");
    post("job=ras&final=true",
         read_file(TESTS_DIR "/ingest/golden_documents/ncclras_text_2_24/input.log"));
    post("job=dumps&final=true&source=broken", broken_dump());
    document = std::make_unique<json::value>(json::parse(plain_get(*server, "/openapi.json").body));
    check = std::make_unique<SchemaCheck>(*document);
    const json::object diagnosis = plain_get(*server, "/api/v1/jobs/llama/diagnosis").json();
    const json::value& cause = diagnosis.at("root_causes").at(0);
    finding = cause.at("finding").as_string();
    host = cause.at("subject").at("hosts").at(0).as_string();
    gpu = cause.at("subject").at("gpus").at(0).as_string();
    const json::value hosts = json::parse(ask("GET", "/api/v1/hosts?limit=1000").body);
    for (const json::value& known : hosts.at("hosts").as_array()) {
      asked_host = known.at("host").as_string();
      const Heard heard = ask("GET", "/api/v1/wanted?kinds=kernel_log&host=" + percent(asked_host));
      const json::value wanted = json::parse(heard.body).at("wanted");
      if (wanted.as_array().empty()) continue;
      wish = wanted.at(0).at("id").as_string();
      break;
    }
    ASSERT_NE(wish, "") << "no host is asked for anything";
  }

  static void TearDownTestSuite() {
    check.reset();
    document.reset();
    server.reset();
    workshop.reset();
  }

  // Simulates the scenario, runs the shell command `change` on its logs, and sends them as the job.
  static void simulate(const std::string& job, const std::string& scenario,
                       const std::string& flags = "--nodes 2", const std::string& change = "true") {
    workshop->make(
        fmt::format("'{}' simulate --scenario {} {} --out {} >&2 && {} && tar -C {}/logs -cf out .",
                    FAULTLINE_BINARY, scenario, flags, job, change, job));
    const Reply reply =
        curl(*server, fmt::format("/api/v1/ingest?job={}&source=logs&final=true", job),
             "-T " + (workshop->folder() / "out").string());
    ASSERT_EQ(reply.status, 200) << job << ' ' << reply.body;
  }

  static Heard post(const std::string& query, const std::string& body) {
    Heard heard = ask("POST", "/api/v1/ingest?" + query, "", body);
    EXPECT_EQ(heard.status, 200) << query << ' ' << heard.body;
    return heard;
  }

  // A pickle that would run a command.
  static std::string broken_dump() {
    return std::string("\x80\x02", 2) + "cos\nsystem\n(X\x02" + std::string(3, '\0') + "lstR.";
  }

  static Heard ask(const std::string& method, const std::string& target,
                   const std::string& headers = "", const std::string& body = "") {
    RawClient client(server->port());
    client.say(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", method, target, headers));
    const bool sends = method == "POST" || method == "PUT";
    client.say(sends ? fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body) : "\r\n");
    std::string answer = client.hear();
    const std::size_t end = answer.find("\r\n\r\n") + 4;
    Heard heard{std::stoi(answer.substr(9)), after_name(answer.substr(0, end), "Content-Type"),
                answer.substr(end)};
    if (heard.type == "text/event-stream") {  // its answer has no end
      heard.body = client.hear_until("\ndata: ");
      heard.body += client.hear_until("\n\n");
    }
    return heard;
  }

  // The version of the server's reader.
  static std::string reader() {
    const Heard heard = ask("GET", "/api/v1/ingest/read?job=llama&source=none");
    return std::string(json::parse(heard.body).at("reader").as_string());
  }

  // The first source of the job; "none" if it has none.
  static std::string source_of(const std::string& job) {
    const Heard heard = ask("GET", "/api/v1/sources?limit=1&job=" + percent(job));
    return heard.status == 200
               ? std::string(json::parse(heard.body).at("sources").at(0).at("source").as_string())
               : "none";
  }

  // The first communicator or process group of the job; "none" if it has none.
  static std::string communicator_of(const std::string& job) {
    const json::value detail = json::parse(ask("GET", "/api/v1/jobs/" + percent(job)).body);
    for (const char* list : {"communicators", "process_groups"})
      if (const json::value* all = detail.as_object().if_contains(list))
        for (const json::value& one : all->as_array()) return std::string(one.at("id").as_string());
    return "none";
  }

  static std::vector<Operation> operations() {
    std::vector<Operation> all;
    for (const auto& [path, methods] : document->at("paths").as_object())
      for (const auto& [method, said] : methods.as_object()) {
        std::string upper(method);
        for (char& c : upper) c = static_cast<char>(std::toupper(c));
        all.push_back({upper, std::string(path), &said.as_object()});
      }
    return all;
  }

  // A good value for a free text; nothing if the test has none yet.
  static std::optional<std::string> good_value(const Operation& operation,
                                               const std::string& name) {
    const std::map<std::string, std::string> kGood{
        {"job", operation.method == "DELETE" ? "doomed" : "llama"},
        {"host", host},
        {"id", finding},
        {"file", "app.js"},
        {"index", "logs"},
        {"name", "logs"},
        {"class", "gpu.off_bus"},
        {"gpu", gpu},
        {"source", operation.path.ends_with("/lines") ? source_of("llama") : "a source"},
        {"since", "2026-01-01T00:00:00Z"},
        {"boot_time", "1772000000"},
        {"after", "0"},
        {"q", "bus"},
        {"by", "ann"},
        {"note", "so it is"},
        {"detail", "py-spy dump"},
        {"reader", reader()},
        // The page's own script interprets these.
        {"attempt", "1"},
        {"state", "all"},
        {"verdict", "hang,failed"},
        {"sort", "activity"},
    };
    if (operation.path == "/api/v1/wanted/outcome" && name == "id") return wish;
    if (operation.path == "/api/v1/wanted/outcome" && name == "host") return asked_host;
    if (operation.path.ends_with("/operations") && name == "id") return communicator_of("llama");
    const auto found = kGood.find(name);
    return found == kGood.end() ? std::nullopt : std::optional(found->second);
  }

  static Values values_of(const Operation& operation, const json::object& parameter) {
    const std::string name(parameter.at("name").as_string());
    Values values = values_by(parameter.at("schema").as_object());
    // The server parses these, although the schema says that they are text.
    static const std::set<std::string> kRead{"since", "cursor", "boot_time", "after"};
    if (kRead.contains(name)) values.bad.push_back("!");
    if (!values.good.empty() || name == "cursor") return values;  // its value comes from a page
    const auto value = good_value(operation, name);
    EXPECT_TRUE(value) << "the test has no value for " << name << " of " << operation.path;
    if (value) values.good.push_back(*value);
    return values;
  }

  // The parameters without which no answer is good.
  static Query needed(const Operation& operation) {
    if (operation.path == "/api/v1/ingest") return {{"job", "sent"}, {"source", operation.method}};
    if (operation.path == "/api/v1/ingest/read" && operation.method == "GET")
      return {{"job", "read"}, {"source", "a source"}};
    if (operation.path == "/api/v1/ingest/read")
      return {{"job", "read"}, {"source", "a source"}, {"offset", "0"}, {"reader", reader()}};
    if (operation.path == "/api/v1/sources") return {{"job", "llama"}};
    if (operation.path.ends_with("/lines")) return {{"source", source_of("llama")}, {"line", "1"}};
    if (operation.path.ends_with("/review")) return {{"verdict", "acknowledged"}};
    if (operation.path.ends_with("/stream")) return {{"after", "0"}};
    if (operation.path == "/api/v1/wanted") return {{"host", host}};
    if (operation.path.ends_with("/outcome"))
      return {{"host", asked_host}, {"id", wish}, {"outcome", "sent"}};
    return {};
  }

  // The parameter is optional in the query because it may come in the body or in a header. This
  // test sends it in the query only, so it is needed here.
  static bool is_said_elsewhere(const Operation& operation, const std::string& name) {
    return operation.path.ends_with("/outcome") ||
           (operation.path.ends_with("/review") && name == "verdict") ||
           (operation.path.ends_with("/stream") && name == "after");
  }

  static std::string target_of(const Operation& operation, const Query& query) {
    std::string target = operation.path;
    for (const json::object* parameter : operation.parameters("path")) {
      const std::string name(parameter->at("name").as_string());
      const auto value = good_value(operation, name);
      EXPECT_TRUE(value) << "the test has no value for {" << name << "}";
      target.replace(target.find("{" + name + "}"), name.size() + 2, percent(value.value_or("")));
    }
    char before = '?';
    for (const auto& [name, value] : query) {
      target += fmt::format("{}{}={}", before, name, percent(value));
      before = '&';
    }
    return target;
  }

  // Expects that the document declares the answer and that the answer fits its schema.
  static void expect_declared(const Operation& operation, const Heard& heard, bool good) {
    const json::object& responses = operation.said->at("responses").as_object();
    const std::string status = std::to_string(heard.status);
    EXPECT_EQ(heard.status < 400, good) << status << ' ' << heard.body.substr(0, 300);
    ASSERT_TRUE(responses.contains(status)) << status << ' ' << heard.body.substr(0, 300);
    const json::object& said = responses.at(status).as_object();
    const json::value* content = said.if_contains("content");
    if (content == nullptr) {
      EXPECT_EQ(heard.body, "");
      return;
    }
    const json::value* form = content->as_object().if_contains(heard.type);
    ASSERT_NE(form, nullptr) << "an answer of type " << heard.type;
    if (!heard.type.ends_with("json")) return;
    boost::system::error_code error;
    const json::value body = json::parse(heard.body, error);
    ASSERT_FALSE(error) << heard.body;
    EXPECT_THAT(check->complaints(form->at("schema"), body), IsEmpty());
  }

  // Expects that a body of JSON is as the document says.
  static void expect_body_declared(const Operation& operation, const std::string& body) {
    const json::value* said = operation.said->if_contains("requestBody");
    if (said == nullptr || body.empty()) return;
    const json::value* form = said->at("content").as_object().if_contains("application/json");
    if (form == nullptr) return;
    EXPECT_THAT(check->complaints(form->at("schema"), json::parse(body)), IsEmpty());
  }

  struct Sent {
    std::string headers;
    std::string body;
  };

  // A good body, which is new.
  static Sent sent_to(const Operation& operation) {
    static int bodies = 0;
    const std::string message = fmt::format("a line, number {}", ++bodies);
    const std::string& path = operation.path;
    const std::string as_json = "Content-Type: application/json\r\n";
    if (operation.method == "GET") return {};
    if (path == "/api/v1/ingest") return {"", message + "\n"};
    if (path == "/api/v1/ingest/json")
      return {as_json, fmt::format(R"({{"job":"sent","message":"{}"}})", message)};
    if (path.starts_with("/loki"))
      return {
          as_json,
          fmt::format(
              R"({{"streams":[{{"stream":{{"job":"sent"}},"values":[["1772679449000000000","{}"]]}}]}})",
              message)};
    if (path == "/v1/logs") return {as_json, "{}"};
    if (path.ends_with("_bulk"))
      return {as_json, fmt::format("{{\"index\":{{}}}}\n{{\"job\":\"sent\",\"message\":\"{}\"}}\n",
                                   message)};
    if (path == "/mcp") return {as_json, R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{}})"};
    if (path.starts_with("/services"))
      return {"", fmt::format(R"({{"event":"{}","fields":{{"job":"sent"}}}})", message)};
    return {};
  }

  // Whether it takes parameters that it does not declare.
  static bool takes_any_query(const Operation& operation) {
    return std::ranges::any_of(routes(), [&](const Route& route) {
      return route.method == operation.method && route.pattern == operation.path &&
             route.takes_any_query;
    });
  }

  static Heard asked(const Operation& operation, const Query& query) {
    const std::string target = target_of(operation, query);
    SCOPED_TRACE(operation.method + " " + target);
    const Sent sent = sent_to(operation);
    return ask(operation.method, target, sent.headers, sent.body);
  }

  static void expect_good(const Operation& operation, const Query& query) {
    SCOPED_TRACE(operation.method + " " + target_of(operation, query));
    expect_body_declared(operation, sent_to(operation).body);
    expect_declared(operation, asked(operation, query), true);
  }

  static void expect_refused(const Operation& operation, const Query& query, int status = 400) {
    SCOPED_TRACE(operation.method + " " + target_of(operation, query));
    const Heard heard = asked(operation, query);
    EXPECT_EQ(heard.status, status) << heard.body.substr(0, 300);
    expect_declared(operation, heard, false);
  }

  // Asks for the second page of all lists with a cursor.
  static void expect_next_pages() {
    std::vector<std::string> paged;
    for (const Operation& operation : operations()) {
      const bool takes_cursor = std::ranges::any_of(
          operation.parameters("query"),
          [](const json::object* one) { return one->at("name").as_string() == "cursor"; });
      if (!takes_cursor) continue;
      Query query = needed(operation);
      query["limit"] = "1";
      // Without it this list begins where one page is left.
      if (operation.path.ends_with("/operations")) query["from"] = "1";
      const json::value first = json::parse(asked(operation, query).body);
      if (!first.at("next_cursor").is_string()) continue;
      paged.push_back(operation.path);
      query["cursor"] = first.at("next_cursor").as_string();
      expect_good(operation, query);
    }
    EXPECT_THAT(paged, testing::UnorderedElementsAre(
                           "/api/v1/jobs", "/api/v1/jobs/{job}/ranks",
                           "/api/v1/jobs/{job}/communicators/{id}/operations",
                           "/api/v1/jobs/{job}/findings", "/api/v1/findings", "/api/v1/hosts",
                           "/api/v1/hosts/{host}", "/api/v1/sources", "/api/v1/rules"));
  }

  // Asks each path that has a name in it for all names that exist and for one that does not.
  static void expect_all_names() {
    std::map<std::string, std::vector<std::string>> names;
    for (const auto& [name, list, member] : {std::tuple{"job", "jobs", "job"},
                                             {"host", "hosts", "host"},
                                             {"id", "findings", "finding"}}) {
      const json::value all =
          json::parse(ask("GET", fmt::format("/api/v1/{}?limit=1000", list)).body);
      for (const json::value& one : all.at(list).as_array())
        names[name].emplace_back(one.at(member).as_string());
    }
    for (const Operation& operation : operations()) {
      if (operation.path == "/api/v1/sources")
        for (const std::string& job : names["job"]) expect_good(operation, {{"job", job}});
      const auto path = operation.parameters("path");
      if (operation.method != "GET" || path.empty() || !operation.path.starts_with("/api/"))
        continue;
      const std::string name(path[0]->at("name").as_string());
      const auto target = [&](const std::string& value) {
        std::string with_value = operation.path;
        with_value.replace(with_value.find('{'), name.size() + 2, percent(value));
        if (const std::size_t id = with_value.find("{id}"); id != std::string::npos)
          with_value.replace(id, 4, percent(communicator_of(value)));
        if (operation.path.ends_with("/diagnosis")) with_value += "?explain=true";
        if (operation.path.ends_with("/lines"))
          with_value += "?line=1&around=200&source=" + percent(source_of(value));
        return with_value;
      };
      EXPECT_GE(names[name].size(), 3U);
      for (const std::string& value : names[name]) {
        SCOPED_TRACE(target(value));
        const bool has_it =
            !operation.path.ends_with("/operations") || communicator_of(value) != "none";
        expect_declared(operation, ask("GET", target(value)), has_it);
      }
      SCOPED_TRACE(target("none-such"));
      const Heard heard = ask("GET", target("none-such"));
      EXPECT_EQ(heard.status, 404);
      expect_declared(operation, heard, false);
    }
  }

  static void expect_other_forms() {
    const std::vector<Operation> all = operations();
    const auto expect = [&](const char* method, const std::string& path, const Heard& heard,
                            bool good = true) {
      SCOPED_TRACE(path);
      const auto operation = std::ranges::find_if(
          all, [&](const Operation& one) { return one.method == method && one.path == path; });
      ASSERT_NE(operation, all.end());
      expect_declared(*operation, heard, good);
    };
    const std::string metrics = "/metrics";
    expect("GET", metrics, ask("GET", metrics, "Accept: application/openmetrics-text\r\n"));
    for (const std::string type :
         {"application/json", "text/plain", "text/markdown", "text/html"}) {
      const Heard heard = ask("GET", "/api/v1/jobs/llama/diagnosis", "Accept: " + type + "\r\n");
      EXPECT_EQ(heard.type, type);
      expect("GET", "/api/v1/jobs/{job}/diagnosis", heard);
    }
    for (const std::string file : {"style.css", "icon.svg", "index.html"})
      expect("GET", "/web/{file}", ask("GET", "/web/" + file));
    const std::string page = curl(*server, "/", "-I").body;
    expect("GET", "/", ask("GET", "/", "If-None-Match: " + after_name(page, "ETag") + "\r\n"));

    expect("GET", "/", ask("GET", "/", "Accept: application/json\r\n"));
    const auto push = [&](const std::string& path, const std::string& type, const std::string& body,
                          bool good = true) {
      expect("POST", path, ask("POST", path, "Content-Type: " + type + "\r\n", body), good);
    };
    // More jobs than one body may have.
    std::string objects;
    std::string records;
    for (int job = 0; job < 1100; ++job) {
      objects += fmt::format("{{\"job\":\"set-{}\",\"message\":\"a\"}}\n", job);
      records += fmt::format(
          R"({}{{"attributes":[{{"key":"job","value":{{"stringValue":"set-{}"}}}}],"body":{{"stringValue":"a"}}}})",
          job == 0 ? "" : ",", job);
    }
    push("/api/v1/ingest/json", "application/json", objects);
    push("/v1/logs", "application/json",
         R"({"resourceLogs":[{"scopeLogs":[{"logRecords":[)" + records + "]}]}]}");
    push("/v1/logs", "application/x-protobuf", "");
    push("/v1/logs", "application/json", "[", false);
    push("/v1/logs", "application/x-protobuf", "[", false);
    push("/loki/api/v1/push", "application/json", "[", false);
    push("/_bulk", "application/json", "[", false);
    push("/_bulk", "application/json", "{\"delete\":{}}\n");
    push("/services/collector", "application/json", "[", false);

    push("/mcp", "application/json", "[", false);
    push("/mcp", "application/json", R"({"jsonrpc":"2.0","id":"a","method":"none-such"})");
    push("/mcp", "application/json", R"({"jsonrpc":"2.0","method":"notifications/initialized"})");

    const std::string ingest = "/api/v1/ingest";
    expect("POST", ingest,
           ask("POST", ingest + "?job=sent", "Content-Type: multipart/form-data; boundary=b\r\n",
               "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.log\"\r\n\r\n"
               "one\n\r\n--b\r\nContent-Disposition: form-data; name=\"c\"; "
               "filename=\"c.log\"\r\n\r\ntwo\n\r\n--b--\r\n"));
    expect("PUT", ingest, ask("PUT", ingest + "?job=sent&source=gap&offset=500", "", "a line\n"),
           false);
    expect("PUT", ingest, ask("PUT", ingest + "?job=sent&source=again&offset=0", "", "a line\n"));
    expect("PUT", ingest, ask("PUT", ingest + "?job=sent&source=again&offset=0", "", ""));

    expect("POST", ingest, post("job=sent&source=dump", broken_dump()));
    expect("POST", ingest, post("job=sent&source=nccl", nccl_log()));

    const std::string review = "/api/v1/findings/{id}/review";
    expect("POST", review,
           ask("POST", fmt::format("/api/v1/findings/{}/review", finding),
               "Content-Type: application/json\r\n",
               R"({"verdict":"closed","by":"ann","note":"done"})"));
    expect("GET", "/api/v1/findings/{id}", ask("GET", "/api/v1/findings/" + finding));

    expect("GET", "/api/v1/wanted",
           ask("GET", "/api/v1/wanted?kinds=stacks&host=" + percent(asked_host)));
    expect("GET", "/api/v1/jobs/{job}/diagnosis", ask("GET", "/api/v1/jobs/stopped/diagnosis"));
    const std::string outcome = "/api/v1/wanted/outcome";
    expect("POST", outcome,
           ask("POST", outcome + "?host=none-such", "Content-Type: application/json\r\n",
               R"({"id":"none-such","outcome":"sent"})"),
           false);

    const Heard stream = ask("GET", "/api/v1/findings/stream?after=0");
    const std::string data = stream.body.substr(stream.body.find("\ndata: ") + 7);
    EXPECT_THAT(check->complaints(document->at("components").at("schemas").at("StoredFinding"),
                                  json::parse(data)),
                IsEmpty());
  }

  // Asks each path with and without each of its parameters.
  static void expect_each_parameter();

  static inline std::unique_ptr<Workshop> workshop;
  static inline std::unique_ptr<ServerProcess> server;
  static inline std::unique_ptr<json::value> document;
  static inline std::unique_ptr<SchemaCheck> check;
  static inline std::string finding;
  static inline std::string host;
  static inline std::string gpu;
  static inline std::string wish;  // the id of something that an agent on asked_host was told
  static inline std::string asked_host;
};

using OpenApiDocument = OpenApiServer;

Query with(Query query, const std::string& name, const std::string& value) {
  query[name] = value;
  return query;
}

Query without(Query query, const std::string& name) {
  EXPECT_EQ(query.erase(name), 1U) << "the test does not know that it is needed: " << name;
  return query;
}

void OpenApiServer::expect_each_parameter() {
  for (const Operation& operation : operations()) {
    const Query least = needed(operation);
    if (takes_any_query(operation))
      expect_good(operation, with(least, "colour", "red"));
    else
      expect_refused(operation, with(least, "colour", "red"));
    expect_good(operation, least);
    if (operation.method == "DELETE") expect_refused(operation, least, 404);
    for (const json::object* parameter : operation.parameters("query")) {
      const std::string name(parameter->at("name").as_string());
      const Values values = values_of(operation, *parameter);
      for (const std::string& value : values.good) expect_good(operation, with(least, name, value));
      for (const std::string& value : values.bad)
        expect_refused(operation, with(least, name, value));
      if (parameter->at("required").as_bool())
        expect_refused(operation, without(least, name));
      else if (least.contains(name) && !is_said_elsewhere(operation, name))
        expect_good(operation, without(least, name));
    }
  }
}

// A schema and all schemas inside it, each with its place.
std::vector<std::pair<std::string, const json::value*>> parts_within(const json::value& schema,
                                                                     const std::string& at = "") {
  std::vector<std::pair<std::string, const json::value*>> all{{at, &schema}};
  const auto add = [&](const json::value& part, const std::string& where) {
    for (auto& one : parts_within(part, where)) all.push_back(std::move(one));
  };
  for (const auto& [word, says] : schema.as_object()) {
    const std::string where = at + "/" + std::string(word);
    if (word == "properties")
      for (const auto& [name, property] : says.as_object())
        add(property, where + "/" + std::string(name));
    if (word == "items" || (word == "additionalProperties" && says.is_object())) add(says, where);
    if (word == "allOf" || word == "anyOf")
      for (std::size_t i = 0; i < says.as_array().size(); ++i)
        add(says.as_array()[i], fmt::format("{}/{}", where, i));
  }
  return all;
}

// All in one test, because each schema must be met by at least one answer.
TEST_F(OpenApiDocument, TellsWhatEachPathAnswersAndNothingElse) {
  expect_each_parameter();
  expect_next_pages();
  expect_all_names();
  expect_other_forms();
  const json::object kNull{{"type", "null"}};
  std::vector<std::string> unmet;
  for (const auto& [name, schema] : document->at("components").at("schemas").as_object())
    for (const auto& [where, part] : parts_within(schema))
      if (!check->has_met(*part) && part->as_object() != kNull)
        unmet.push_back(std::string(name) + where);
  // No GPU here has counters. Those of ports have the same form.
  EXPECT_THAT(unmet, ElementsAre("Host/properties/gpus/items/properties/counters/items"));
}

template <class Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
      [&](auto one) { words.emplace_back(one.name); });
  return words;
}

TEST(OpenApiWords, AreThoseOfTheCode) {
  const json::value document = openapi_of(routes(), "1.2.3", false);
  const auto said = [&](std::string_view pointer) {
    std::vector<std::string> words;
    for (const json::value& word :
         document.at_pointer(fmt::format("/components/schemas/{}/enum", pointer)).as_array())
      if (word.is_string()) words.emplace_back(word.as_string());
    return words;
  };
  const auto taken = [&](std::string_view method, std::string_view path, std::string_view name) {
    std::vector<std::string> words;
    for (const json::value& parameter :
         document.at("paths").at(path).at(method).at("parameters").as_array()) {
      if (parameter.at("name").as_string() != name) continue;
      const json::object& schema = parameter.at("schema").as_object();
      const json::object& one = schema.contains("items") ? schema.at("items").as_object() : schema;
      for (const json::value& word : one.at("enum").as_array())
        words.emplace_back(word.as_string());
    }
    return words;
  };
  EXPECT_EQ(taken("get", "/api/v1/jobs", "verdict"), words_of<Verdict>());
  EXPECT_EQ(taken("get", "/api/v1/findings", "severity"), words_of<Severity>());
  EXPECT_EQ(taken("get", "/api/v1/findings", "state"), words_of<FindingState>());
  EXPECT_EQ(taken("post", "/api/v1/findings/{id}/review", "verdict"), words_of<ReviewVerdict>());
  EXPECT_EQ(said("Severity"), words_of<Severity>());
  EXPECT_EQ(said("Verdict"), words_of<Verdict>());
  EXPECT_EQ(said("Finding/properties/state"), words_of<FindingState>());
  EXPECT_EQ(said("StoredFinding/allOf/1/properties/role"), words_of<Role>());
  EXPECT_EQ(said("StoredFinding/allOf/1/properties/review"), words_of<ReviewVerdict>());
  EXPECT_EQ(said("Review/properties/verdict"), words_of<ReviewVerdict>());
  EXPECT_EQ(said("Diagnosis/properties/checklist/items/properties/status"),
            words_of<CheckStatus>());
  EXPECT_EQ(said("Rule/properties/weight"), words_of<Weight>());
  EXPECT_EQ(said("Rule/properties/blames"), words_of<Blames>());
}

TEST(SchemaChecks, FindWhatDoesNotFit) {
  const json::value document = json::parse(R"({"components": {"schemas": {
      "Base": {"type": "object", "required": ["a"], "properties": {"a": {"type": ["integer", "null"]}}},
      "More": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object", "required": [],
        "properties": {"b": {"type": "string", "enum": ["x", "y"]},
                       "c": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}},
                       "d": {"type": "object", "additionalProperties": {"type": "boolean"}},
                       "t": {"type": "string", "format": "date-time"},
                       "n": {"anyOf": [{"$ref": "#/components/schemas/Base"}, {"type": "null"}]}}}]},
      "Id": {"type": "string", "pattern": "^[0-9a-f]{2}$"},
      "Odd": {"type": "string", "maxLength": 1}}}})");
  const auto complaints = [&](const char* schema, const char* value) {
    return SchemaCheck(document).complaints(document.at("components").at("schemas").at(schema),
                                            json::parse(value));
  };
  EXPECT_THAT(complaints("More", R"({"a": null, "b": "y", "c": [0, 0.5], "d": {"any": true},
                                     "t": "2026-01-01T00:00:00Z", "n": {"a": 1}})"),
              IsEmpty());
  EXPECT_THAT(complaints("More", R"({"n": null})"), ElementsAre(": \"a\" is missing"));
  EXPECT_THAT(complaints("More", R"({"a": "1"})"),
              ElementsAre("/a: \"1\" is not of type [\"integer\",\"null\"]"));
  EXPECT_THAT(complaints("More", R"({"a": 1, "z": 1})"), ElementsAre("/z: is not declared"));
  EXPECT_THAT(complaints("More", R"({"a": 1, "b": "z"})"),
              ElementsAre("/b: \"z\" is none of [\"x\",\"y\"]"));
  EXPECT_THAT(complaints("More", R"({"a": 1, "c": [0, 2, -1, "x"]})"), testing::SizeIs(3));
  EXPECT_THAT(complaints("More", R"({"a": 1, "d": {"any": 1}})"), testing::SizeIs(1));
  EXPECT_THAT(complaints("More", R"({"a": 1, "t": "soon"})"), testing::SizeIs(1));
  EXPECT_THAT(complaints("More", R"({"a": 1, "n": {"a": 1, "b": 1}})"), testing::SizeIs(1));
  EXPECT_THAT(complaints("Id", R"("a0")"), IsEmpty());
  EXPECT_THAT(complaints("Id", R"("a0b")"), ElementsAre(": \"a0b\" is not like \"^[0-9a-f]{2}$\""));
  EXPECT_THAT(complaints("Odd", R"("x")"),
              ElementsAre(": the schema says maxLength, which is not known here"));
}

}  // namespace
}  // namespace faultline
