// What goes wrong between a client and the server.
#include <fmt/format.h>

#include "faults/client.h"
#include "faults/doors.h"
#include "faults/load.h"
#include "faults/rounds.h"

namespace faultline::faults {

// The answer to a body is lost, and the client sends the body again, a few bytes first.
void drip_round(Life& life, Random& random, Verdict& verdict) {
  life.go_on_and_check(verdict);
  SentSource& source = life.ledger().sources.front();
  source.add_body(random.between(3, 12));
  SentBody& body = *source.unacknowledged();
  Client client(life.server().port());
  const Shipment shipment = shipment_of(source, body);
  const Answer lost = client.send(shipment, Way::whole, random);
  const Answer heard = client.send(shipment, Way::drips, random);
  verdict.struck = lost.status == 200;
  if (std::string wrong = judge(heard, source, body); !wrong.empty())
    verdict.fail(fmt::format("sent again, a few bytes first: {}", wrong));
  body.acknowledged = true;
  ++verdict.acknowledged;
  life.go_on_and_check(verdict);
}

}  // namespace faultline::faults
