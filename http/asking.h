// On which threads a request is answered, and how one request asks another route of this server.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>

#include "http/message.h"
#include "http/router.h"
#include "http/threads.h"
#include "service/services.h"

namespace faultline {

class AuditLog;

Seat seat_for(Threads& threads, const Route& route, const Request& request);

// Answers GET `target` as if `asker` had sent it, with the jobs that its token may see. Only for a
// request that was admitted with the scope read, and for routes that need no more than that. A
// question that is refused is a line of the audit.
boost::asio::awaitable<Response> ask_own(const Request& asker, const std::string& target,
                                         Services& services, Threads& threads, AuditLog* audit);

}  // namespace faultline
