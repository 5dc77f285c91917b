#include "http/router.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "http/openapi.h"

namespace faultline {
namespace {

struct Found {
  std::string pattern;  // empty: no route matches
  Response response;
};

Found find(Request& request) {
  const auto found = find_route(request);
  if (const auto* route = std::get_if<const Route*>(&found))
    return {std::string((*route)->pattern)};
  return {"", std::get<Response>(found)};
}

Request asking(std::string method, std::string target) {
  Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.path = request.target.substr(0, request.target.find('?'));
  return request;
}

std::string detail_of(const Response& response) {
  return std::string(boost::json::parse(response.body).at("detail").as_string());
}

TEST(Router, FindsTheRouteAndDecodesItsValues) {
  Request request = asking("GET", "/api/v1/jobs/llama%2F7b/findings?class=gpu.off_bus&limit=5");
  EXPECT_EQ(find(request).pattern, "/api/v1/jobs/{job}/findings");
  EXPECT_EQ(request.path_value("job"), "llama/7b");
  EXPECT_EQ(request.query.text("class"), "gpu.off_bus");
}

TEST(Router, AnswersHeadWhereItAnswersGet) {
  Request request = asking("HEAD", "/api/v1/jobs");
  EXPECT_EQ(find(request).pattern, "/api/v1/jobs");
  Request upload = asking("HEAD", "/api/v1/ingest");
  EXPECT_EQ(find(upload).response.status, 405U);
}

TEST(Router, SaysWhatIsWrongWithARequest) {
  struct Case {
    const char* why;
    const char* method;
    const char* target;
    unsigned status;
    const char* detail;
  };
  const Case cases[] = {
      {"unknown path", "GET", "/nowhere", 404,
       "nothing is served at /nowhere; /openapi.json lists everything that is"},
      {"a slash too many", "GET", "/api/v1/jobs/", 404,
       "nothing is served at /api/v1/jobs/; /openapi.json lists everything that is"},
      {"an empty segment", "GET", "/api/v1/jobs//ranks", 404,
       "nothing is served at /api/v1/jobs//ranks; /openapi.json lists everything that is"},
      {"wrong method", "DELETE", "/api/v1/jobs", 405,
       "/api/v1/jobs does not take DELETE; it takes GET, HEAD, OPTIONS"},
      {"unknown method", "BREW", "/api/v1/jobs", 501, "the method BREW is not known here"},
      {"unknown parameter", "GET", "/api/v1/jobs?colour=red", 400,
       "unknown query parameter \"colour\"; those taken here are verdict, since, sort, format, "
       "limit, "
       "cursor"},
      {"parameter where none is taken", "GET", "/healthz?x", 400,
       "unknown query parameter \"x\"; none is taken here"},
      {"parameter given twice", "PUT", "/api/v1/ingest?job=a&job=b", 400,
       "the query parameter \"job\" is given twice; give it once"},
      {"bad encoding in the path", "GET", "/api/v1/jobs/%f", 400,
       "\"%f\" has a % without two hexadecimal digits after it; write %25 for the sign itself"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    Request request = asking(c.method, c.target);
    const Found found = find(request);
    ASSERT_EQ(found.pattern, "");
    EXPECT_EQ(found.response.status, c.status);
    EXPECT_EQ(detail_of(found.response), c.detail);
  }
}

TEST(Router, TellsWhatIsAllowedToOptionsAndWith405) {
  Request options = asking("OPTIONS", "/api/v1/ingest");
  const Headers expected{{"Allow", "POST, PUT, OPTIONS"}};
  const Found found = find(options);
  EXPECT_EQ(found.response.status, 204U);
  EXPECT_EQ(found.response.headers, expected);
  Request get = asking("GET", "/api/v1/ingest");
  EXPECT_EQ(find(get).response.status, 405U);
  EXPECT_EQ(find(get).response.headers, expected);
  Request all = asking("OPTIONS", "*");
  EXPECT_EQ(find(all).response.status, 204U);
}

TEST(OpenApi, AsksForTheJobUnlessTheServerHasADefaultOne) {
  for (const bool has_default_job : {true, false}) {
    const boost::json::value document = openapi_of(routes(), "1.2.3", has_default_job);
    for (const auto& [path, method] :
         {std::pair{"/api/v1/ingest", "post"}, {"/api/v1/sources", "get"}}) {
      const auto& job = document.at("paths").at(path).at(method).at("parameters").at(0);
      EXPECT_EQ(job.at("name").as_string(), "job");
      EXPECT_EQ(job.at("required").as_bool(), !has_default_job) << path;
    }
  }
}

TEST(OpenApi, DescribesExactlyTheRoutes) {
  const boost::json::value document = openapi_of(routes(), "1.2.3", false);
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  EXPECT_EQ(document.at("info").at("version").as_string(), "1.2.3");

  std::set<std::string> described;
  std::set<std::string> ids;
  for (const auto& path : document.at("paths").as_object())
    for (const auto& operation : path.value().as_object()) {
      described.insert(std::string(operation.key()) + " " + std::string(path.key()));
      ids.insert(std::string(operation.value().at("operationId").as_string()));
      EXPECT_FALSE(operation.value().at("responses").as_object().empty());
    }
  std::set<std::string> served;
  for (const Route& route : routes()) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    served.insert(method + " " + std::string(route.pattern));
    std::set<std::string> wanted;
    for (const Parameter& parameter : route.query) wanted.insert(std::string(parameter.name));
    std::set<std::string> given;
    const auto& operation = document.at("paths").at(route.pattern).at(method);
    for (const auto& parameter : operation.at("parameters").as_array())
      if (parameter.at("in").as_string() == "query")
        given.insert(std::string(parameter.at("name").as_string()));
      else
        EXPECT_TRUE(parameter.at("required").as_bool());
    EXPECT_EQ(given, wanted) << route.pattern;
  }
  EXPECT_EQ(described, served);
  EXPECT_EQ(ids.size(), routes().size()) << "operation ids must be unique";
}

}  // namespace
}  // namespace faultline
