// GET / and the other addresses of the page for people, which asks the API for all that it shows.
// Its files hold nothing of any job, so anybody may read them.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "http/handlers.h"
#include "http/problem.h"
#include "http/web_files.h"

namespace faultline {
namespace {

constexpr std::string_view kPage = "index.html";
constexpr std::string_view kMissingPage = "missing.html";

// The page quotes logs, which strangers may have written: nothing in them may run, and nothing may
// be fetched from or sent to another server.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

Headers guards() {
  return {{"Content-Security-Policy", std::string(kPolicy)},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"}};
}

Response file_answer(const Request& request, const WebFile& file) {
  const std::string tag =
      fmt::format("\"{:016x}\"", XXH3_64bits(file.text.data(), file.text.size()));
  Headers headers = guards();
  // A browser keeps the file but asks each time: another release has other files.
  headers.emplace_back("Cache-Control", "no-cache");
  headers.emplace_back("ETag", tag);
  if (request.header("If-None-Match").find(tag) != std::string_view::npos)
    return {.status = 304, .headers = std::move(headers)};
  Response response = Response::text(std::string(file.text), std::string(type_of(file.name)));
  response.headers = std::move(headers);
  return response;
}

const WebFile* web_file(std::string_view name) {
  const auto file = std::ranges::find(web_files(), name, &WebFile::name);
  return file == web_files().end() ? nullptr : &*file;
}

}  // namespace

Response show_page(const Request& request, Services& services) {
  // Clients of Elasticsearch ask here who we are, in JSON of some kind.
  const std::string_view accept = request.header("Accept");
  if (request.path == "/" && accept.find("json") != std::string_view::npos &&
      accept.find("html") == std::string_view::npos)
    return show_cluster(request, services);
  return file_answer(request, *web_file(kPage));
}

Response missing_page() {
  const WebFile& file = *web_file(kMissingPage);
  Response response = Response::text(std::string(file.text), std::string(type_of(file.name)));
  response.status = 404;
  response.headers = guards();
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

Response show_web_file(const Request& request, Services&) {
  const std::string& name = request.path_value("file");
  const WebFile* file = web_file(name);
  if (file == nullptr)
    return problem_response(
        Error{Error::Kind::not_found,
              fmt::format("the page has no file named \"{}\"", printable_name(name))});
  return file_answer(request, *file);
}

}  // namespace faultline
