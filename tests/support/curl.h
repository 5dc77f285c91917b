// The real curl, run through a shell as a user would.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "eventually.h"
#include "server_process.h"

namespace faultline {

struct Reply {
  int exit = -1;  // the status of the shell's last command
  int status = 0;
  std::string body;

  boost::json::object json() const {
    boost::system::error_code error;
    const boost::json::value value = boost::json::parse(body, error);
    EXPECT_TRUE(!error && value.is_object()) << status << ' ' << body;
    return error || !value.is_object() ? boost::json::object{} : value.as_object();
  }
};

inline std::string output_of(const std::string& command, int* exit = nullptr) {
  std::string output;
  std::FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 65536> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), n);
  const int ended = pclose(pipe);
  if (exit != nullptr) *exit = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return output;
}

// Runs curl FLAGS URL. `before` is what feeds its stdin, such as "gzip -c file |".
inline Reply curl(const ServerProcess& server, const std::string& path,
                  const std::string& flags = "", const std::string& before = "") {
  Reply reply;
  const std::string mark = "\n<<status>>";
  std::string output =
      output_of(before + " curl -sS --max-time 120 -w '" + mark + "%{http_code}' " + flags + " '" +
                    server.url(path) + "' 2>/dev/null",
                &reply.exit);
  const std::size_t at = output.rfind(mark);
  if (at == std::string::npos) return reply;
  reply.status = std::atoi(output.c_str() + at + mark.size());
  reply.body = output.substr(0, at);
  return reply;
}

// Waits until the stored jobs are loaded.
inline void await_ready(const ServerProcess& server) {
  EXPECT_TRUE(eventually([&] { return curl(server, "/readyz").status != 503; }));
}

// Asks again until the answer is as hoped for; fails the test after a minute.
template <class Hope>
Reply await(const ServerProcess& server, const std::string& path, Hope&& hope) {
  Reply reply;
  EXPECT_TRUE(eventually([&] {
    reply = curl(server, path);
    return hope(reply);
  })) << path
      << ": " << reply.status << ' ' << reply.body;
  return reply;
}

}  // namespace faultline
