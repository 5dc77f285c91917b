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

#include "ingest/reader.h"
#include "ship/log_reader.h"
#include "ship/server_link.h"
#include "ship/spool.h"

namespace faultline {

// What a server said about a log.
struct ServerNews {
  enum class Kind {
    acknowledged,      // it has all up to here
    has_less,          // it has only what is before here
    has_more,          // a log that begins now: it has what is before here already
    stands,            // where its reader stands, if it says so
    stands_elsewhere,  // it has all up to here, but what we read does not follow that
    takes_no_blocks,   // it has all up to here, and wants the lines of what follows
  };
  Kind kind = Kind::acknowledged;
  LogTarget target;
  std::uint64_t offset = 0;
  std::optional<HeldProof> proof = std::nullopt;  // for has_more
  std::optional<Cursor> cursor = std::nullopt;    // for stands
  bool for_good = false;  // for takes_no_blocks: this server will never take them
};

class Sender {
 public:
  // reader: the version of our own; empty: we have none.
  Sender(ShipServer server, Spool& spool, std::string reader = {});

  // Sends until stop() is called.
  void run();
  void stop();  // from any thread
  // The server took of this stream before, so it need not be asked whether it has another.
  void trust(const LogTarget& target);  // from any thread

  // Whether the server may take what our reader read. All from any thread.
  bool may_take_blocks() const;
  // Asks the server where its reader stands in a log; the news say it.
  void ask_where_it_stands(const LogTarget& target);
  // The next blocks of this log are to be taken, whatever the server's reader remembers.
  void insist(const LogTarget& target);

  std::vector<ServerNews> take_news();
  // Why nothing gets through at present; empty if it does.
  std::string trouble() const;

  // Says that nothing will follow. For the end, when run() has returned. False: no answer.
  bool finish(const LogTarget& target, std::uint64_t offset);

 private:
  using Clock = std::chrono::steady_clock;

  ClientAnswer ask(const Shipment& shipment, bool final);
  void ask_questions();
  ServerNews answer_of(const LogTarget& target);
  void take_no_blocks(std::chrono::seconds pause, std::string why);
  bool insists(const LogTarget& target) const;
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
  const std::string reader_;
  std::atomic<bool> stopped_ = false;
  std::minstd_rand random_{std::random_device{}()};
  std::set<LogTarget> refused_;  // that the server did not take at the last attempt
  std::map<LogTarget, int> failures_;
  int lost_requests_ = 0;  // in a row, without any answer
  mutable std::mutex mutex_;
  std::set<LogTarget> begun_;  // whose stream the server is known to hold, or to have nothing of
  std::vector<ServerNews> news_;
  std::vector<LogTarget> questions_;  // whose reader we want to know of
  std::set<LogTarget> insisted_;
  Clock::time_point no_blocks_until_{};
  std::string why_no_blocks_;
  std::string trouble_;
};

}  // namespace faultline
