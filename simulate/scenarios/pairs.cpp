// Sends and receives that do not match. In these jobs two ranks exchange something at the end of
// every step, like the ends of a pipeline that share weights.
#include "simulate/scenarios/families.h"

namespace faultline::simulation {
namespace {

constexpr std::uint8_t kExchange = 0xfe;

class Exchange {
 public:
  explicit Exchange(Injection& injection)
      : it_(injection), slot_(injection.communicators.slot_of(Group::pipeline).value_or(0)) {
    const auto [a, b] = it_.distant_neighbours(slot_);
    a_ = a >= 0 ? a : 0;
    b_ = a >= 0 ? b : it_.next_in(slot_, 0);
    step_ = it_.any_step();
  }

  Call call(Function function, int with) const {
    return {.function = function,
            .slot = static_cast<std::uint8_t>(slot_),
            .group = kExchange,
            .datatype = kFloat32,
            .root = it_.seat(with, slot_).rank,
            .count = 7'382'228};
  }
  std::vector<Call> usual(int with) const {
    return {call(Function::send, with), call(Function::recv, with)};
  }
  static std::vector<Call> one_by_one(std::vector<Call> calls) {
    for (Call& call : calls) call.group = 0;
    return calls;
  }

  // In the step of the fault a and b make these calls, in all other steps the usual ones.
  void write(const std::vector<Call>& a_does, const std::vector<Call>& b_does) {
    for (int step = 0; step < it_.program.steps(); ++step) {
      const bool odd = step == step_ && !it_.twin;
      put(a_, step, odd ? a_does : usual(b_));
      put(b_, step, odd ? b_does : usual(a_));
    }
    if (it_.twin) return;
    it_.blame_rank(a_);
    it_.blame_rank(b_);
    it_.blame_communicator(a_, slot_);
  }

  int a() const { return a_; }
  int b() const { return b_; }

 private:
  void put(int rank, int step, const std::vector<Call>& calls) {
    const auto end = static_cast<int>(it_.program.written(rank, step).size());
    it_.edit(rank, {step, end}, 0, calls);
  }

  Injection& it_;
  int slot_;
  int a_ = 0;
  int b_ = 0;
  int step_ = 0;
};

}  // namespace

void p2p_mismatch_missing_recv(Injection& it) {
  Exchange exchange(it);
  exchange.write(exchange.usual(exchange.b()), {exchange.call(Function::send, exchange.a())});
}

void p2p_mismatch_size(Injection& it) {
  Exchange exchange(it);
  std::vector<Call> other = exchange.usual(exchange.a());
  other.back().count /= 2;
  exchange.write(exchange.usual(exchange.b()), other);
}

// Both ranks send before they receive, and no send ends before it is received.
void p2p_deadlock(Injection& it) {
  Exchange exchange(it);
  exchange.write(Exchange::one_by_one(exchange.usual(exchange.b())),
                 Exchange::one_by_one(exchange.usual(exchange.a())));
}

}  // namespace faultline::simulation
