// The page for people, from the real server. ./dev page checks what it looks like in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "curl.h"
#include "http/tokens.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kAddresses{
    "/",      "/jobs/llama", "/findings", "/findings/f1",
    "/hosts", "/hosts/n1",   "/?q=llama", "/findings?job=a&class=gpu.off_bus&host=n1&state=all"};

// The paths of the files that the page refers to.
std::vector<std::string> files_of(const std::string& page) {
  std::vector<std::string> files;
  for (std::size_t at = page.find("\"/web/"); at != std::string::npos;
       at = page.find("\"/web/", at + 1))
    files.push_back(page.substr(at + 1, page.find('"', at + 1) - at - 1));
  return files;
}

struct Page : testing::Test {
  std::string head(const std::string& path, const std::string& flags = "") {
    return curl(server, path, "-I " + flags).body;
  }

  Workshop workshop;
  ServerProcess server{workshop.folder()};
};

TEST_F(Page, IsTheSameAtEachOfItsAddressesAndLetsNothingElseRun) {
  const std::string page = plain_get(server, "/").body;
  EXPECT_THAT(page, HasSubstr("<title>Faultline</title>"));
  for (const std::string& address : kAddresses) {
    SCOPED_TRACE(address);
    EXPECT_EQ(plain_get(server, address).body, page);
    const std::string sent = head(address);
    EXPECT_THAT(sent, HasSubstr("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(sent, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
    EXPECT_THAT(
        sent, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; style-src "
                        "'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; "
                        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"));
    for (const char* header :
         {"X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n", "ETag: \""})
      EXPECT_THAT(sent, HasSubstr(header));
  }
  EXPECT_EQ(plain_get(server, "/?colour=red").status, 400);
  EXPECT_EQ(curl(server, "/", "-X POST").status, 405);
}

TEST_F(Page, HasAllFilesThatItNamesAndTheseNameNoOthers) {
  std::vector<std::string> files = files_of(plain_get(server, "/").body);
  ASSERT_GT(files.size(), 3U);
  std::string all;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Reply reply = plain_get(server, file);
    EXPECT_EQ(reply.status, 200);
    EXPECT_THAT(head(file), HasSubstr(file.ends_with(".js")    ? "Content-Type: text/javascript"
                                      : file.ends_with(".css") ? "Content-Type: text/css"
                                                               : "Content-Type: image/svg+xml"));
    for (const char* sink : {"innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "https://"})
      EXPECT_THAT(reply.body, Not(HasSubstr(sink)));
    for (std::size_t at = reply.body.find(" from './"); at != std::string::npos;
         at = reply.body.find(" from './", at + 1)) {
      const std::size_t begin = at + std::string(" from './").size();
      EXPECT_THAT(
          files, testing::Contains("/web/" +
                                   reply.body.substr(begin, reply.body.find('\'', begin) - begin)));
    }
    all += reply.body;
  }
  workshop.write("all", all + plain_get(server, "/").body);
  EXPECT_LT(workshop.make("gzip -c all > out").size(), std::size_t{150} * 1000);
  EXPECT_EQ(plain_get(server, "/web/nothing.js").status, 404);
  EXPECT_EQ(plain_get(server, "/web/..%2F..%2Fetc%2Fpasswd").status, 404);
}

TEST_F(Page, LeadsHomeFromAnAddressThatIsNone) {
  const std::string browser =
      "-H 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'";
  const Reply missing = curl(server, "/nosuch", browser);
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr("There is no such page"));
  EXPECT_THAT(missing.body, HasSubstr("<a href=\"/\">"));
  for (const std::string& file : files_of(missing.body))
    EXPECT_EQ(plain_get(server, file).status, 200);
  const std::string sent = head("/jobs/a/b/c", browser);
  EXPECT_THAT(sent, HasSubstr("HTTP/1.1 404 Not Found\r\n"));
  for (const char* header : {"Content-Type: text/html; charset=utf-8\r\n",
                             "Content-Security-Policy: default-src 'none'", "Vary: Accept\r\n"})
    EXPECT_THAT(sent, HasSubstr(header));
  // Programs get JSON, and so does a browser that asks for a path of the API or posts.
  EXPECT_EQ(plain_get(server, "/nosuch").json().at("status"), 404);
  EXPECT_EQ(curl(server, "/api/v2/jobs", browser).json().at("status"), 404);
  EXPECT_EQ(curl(server, "/nosuch", browser + " -X POST").json().at("status"), 404);
}

TEST_F(Page, IsNotSentAgainToWhoHasIt) {
  const std::string sent = head("/web/app.js");
  const std::size_t at = sent.find("ETag: ") + 6;
  const std::string tag = sent.substr(at, sent.find('\r', at) - at);
  const Reply again = curl(server, "/web/app.js", "-H 'If-None-Match: " + tag + "'");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(curl(server, "/web/app.js", "-H 'If-None-Match: \"another\"'").status, 200);
}

TEST_F(Page, IsForThisServersNamesOnly) {
  EXPECT_EQ(curl(server, "/", "-H 'Host: rebound.example'").status, 421);
  EXPECT_EQ(curl(server, "/web/app.js", "-H 'Host: rebound.example'").status, 421);
}

TEST(PageWithTokens, IsForAnybodyAndWhatItAsksIsNot) {
  Workshop workshop;
  const NewToken reader = new_token("reader", {Scope::read});
  workshop.write("tokens", line_of(reader.token) + "\n");
  ServerProcess server(workshop.folder(), {"--tokens", (workshop.folder() / "tokens").string()});
  for (const std::string& address : kAddresses) EXPECT_EQ(plain_get(server, address).status, 200);
  for (const std::string& file : files_of(plain_get(server, "/").body))
    EXPECT_EQ(plain_get(server, file).status, 200) << file;
  EXPECT_EQ(plain_get(server, "/api/v1/jobs").status, 401);
  EXPECT_EQ(plain_get(server, "/api/v1/findings/stream").status, 401);
  const std::string shown = "-H 'Authorization: Bearer " + reader.secret + "'";
  EXPECT_EQ(curl(server, "/api/v1/jobs", shown).status, 200);
}

}  // namespace
}  // namespace faultline
