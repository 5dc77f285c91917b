// A real server, and a client that sends it one request after the other.
#pragma once

#include <sys/types.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::accuracy {

struct Answer {
  unsigned status = 0;
  std::string body;
};

class Served {
 public:
  // `program` is the faultline binary. It stores its data in `folder`, which an earlier server may
  // have used. Throws std::runtime_error if the server does not start.
  Served(std::string program, std::filesystem::path folder, std::vector<std::string> flags);
  ~Served();
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  // kill -9, then a start on the same data.
  void kill_and_start();

  Answer get(const std::string& path);
  Answer post(const std::string& path, const std::string& body, std::string_view type = {},
              std::string_view encoding = {});

  // An upload that stays open and grows.
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual void say(std::string_view piece) = 0;
    virtual Answer end() = 0;
  };
  std::unique_ptr<Stream> stream(const std::string& path);

 private:
  struct Connection;

  void start();
  void stop();

  std::string program_;
  std::filesystem::path folder_;
  std::vector<std::string> flags_;
  pid_t process_ = -1;
  unsigned short port_ = 0;
  std::unique_ptr<Connection> connection_;
};

}  // namespace faultline::accuracy
