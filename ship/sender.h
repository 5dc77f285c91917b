// Sender: brings what lies in the spool to a server, and says what the server has.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ship/log_reader.h"
#include "ship/server_link.h"
#include "ship/spool.h"

namespace faultline {

// What a server said about a log.
struct ServerNews {
  enum class Kind {
    acknowledged,  // it has all up to here
    has_less,      // it has only what is before here
    has_more,      // a log that begins now: it has what is before here already
  };
  Kind kind = Kind::acknowledged;
  LogTarget target;
  std::uint64_t offset = 0;
  std::optional<HeldProof> proof = std::nullopt;  // for has_more
};

class Sender {
 public:
  Sender(ShipServer server, Spool& spool);

  // Sends until stop() is called.
  void run();
  void stop();  // from any thread
  // The server took of this stream before, so it need not be asked whether it has another.
  void trust(const LogTarget& target);  // from any thread

  std::vector<ServerNews> take_news();
  // Why nothing gets through at present; empty if it does.
  std::string trouble() const;

  // Says that nothing will follow. For the end, when run() has returned. False: no answer.
  bool finish(const LogTarget& target, std::uint64_t offset);

 private:
  using Clock = std::chrono::steady_clock;

  ClientAnswer ask(const Shipment& shipment, bool final);
  void send(const Shipment& shipment);
  void send_again(const Shipment& shipment, const ClientAnswer& answer,
                  std::optional<std::uint64_t> offset);
  bool is_begun(const LogTarget& target) const;
  void wait_for_reader(ServerNews news);
  void tell(ServerNews news);
  void set_trouble(std::string trouble);
  std::chrono::milliseconds next_pause(int failures);

  ServerLink link_;
  Spool& spool_;
  std::atomic<bool> stopped_ = false;
  std::minstd_rand random_{std::random_device{}()};
  std::set<LogTarget> refused_;  // that the server did not take at the last attempt
  std::map<LogTarget, int> failures_;
  int lost_requests_ = 0;  // in a row, without any answer
  mutable std::mutex mutex_;
  std::set<LogTarget> begun_;  // whose stream the server is known to hold, or to have nothing of
  std::vector<ServerNews> news_;
  std::string trouble_;
};

}  // namespace faultline
