// Speaks HTTP with a server as a shipper of logs would, over sockets of its own. An incomplete
// answer counts as none.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "faults/random.h"

namespace faultline::faults {

struct Shipment {
  std::string_view method;
  std::string target;
  std::string_view type;  // of the body; empty: not said
  std::string body;
};

struct Answer {
  int status = 0;  // 0: none came, or not all of it
  std::string body;
};

// How the bytes of a body travel; what arrives is the same.
enum class Way { whole, gzip, pieces, gzip_in_pieces, broken_off, drips };

enum class Pauses { no, sometimes, always };

class Client {
 public:
  explicit Client(int port) : port_(port) {}
  ~Client() { hang_up(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Answer get(const std::string& target);
  Answer post(const std::string& target);  // without a body
  // Way::broken_off hangs up in the middle of the body and has no answer. Way::drips always pauses
  // after a few bytes.
  Answer send(const Shipment& shipment, Way way, Random& random);
  void hang_up();

 private:
  Answer ask(std::string_view head);
  bool connect();
  bool say(std::string_view bytes);
  bool say_in_pieces(std::string_view bytes, std::size_t first, Pauses pauses, Random& random);
  Answer hear();

  int port_;
  int socket_ = -1;
};

// On a connection of its own.
Answer get(int port, const std::string& target);

}  // namespace faultline::faults
