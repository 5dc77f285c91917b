// Takes the messages that a shipper pushes, in whichever protocol, into the sources of their jobs.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doors/record.h"
#include "http/handlers.h"
#include "http/message.h"
#include "http/problem.h"

namespace faultline {

// Reads the messages of an unpacked body; returns why it is none of its protocol.
using ReadMessages = std::function<std::optional<Problem>(std::string_view body, RecordVisitor&)>;

struct Pushed {
  // Of the whole body: it has to be sent again, or is none of its protocol. kClientLeft as the
  // status: nobody waits for an answer.
  std::optional<Problem> problem;
  std::uint64_t taken = 0;    // messages
  std::uint64_t refused = 0;  // messages that will never be taken
  std::string why_refused;
  unsigned refused_status = 400;        // that tells a sender so, if nothing else was sent
  std::vector<std::size_t> refused_at;  // which messages, in the order in which they were read
  std::vector<std::string> jobs;

  // Not one message was taken, and none will be.
  bool all_refused() const { return taken == 0 && refused > 0; }
};

// Notes in the answer, for the audit, that some messages were refused.
void note_refused(const Pushed& pushed, Response& response);

// `door`: its name, of which the default names of sources are made. Returns when all is durable.
boost::asio::awaitable<Pushed> take_push(const Request& request, Services& services,
                                         Exchange& exchange, std::string_view door,
                                         ReadMessages read);

}  // namespace faultline
