#include "http/turns.h"

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <new>
#include <utility>

namespace faultline {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::seconds kLookForTurn{1};

}  // namespace

Turns::Turn::Turn(Turns& turns, const Claim& claim) : turns_(turns) {
  const std::lock_guard lock(turns_.mutex_);
  job_ = turns_.jobs_.try_emplace(claim.job).first;
  peer_ = turns_.peers_.try_emplace(claim.peer).first;
  ++job_->second.users;
  ++peer_->second.users;
}

Turns::Turn::~Turn() {
  const std::lock_guard lock(turns_.mutex_);
  turns_.end(*this);
}

asio::awaitable<std::unique_ptr<Turns::Turn>> Turns::take(Claim claim) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  auto turn = std::make_unique<Turn>(*this, claim);
  {
    const std::lock_guard lock(mutex_);
    if (has_room_for(*turn)) {
      begin(*turn);
      co_return turn;
    }
    turn->wakeup_ = std::make_shared<Wakeup>(executor);
    waiting_.push_back(turn.get());
  }
  const auto is_running = [&] {
    const std::lock_guard lock(mutex_);
    return turn->is_running_;
  };
  while (!is_running()) co_await turn->wakeup_->wait(steady_now() + kLookForTurn);
  co_return turn;
}

bool Turns::has_room_for(const Turn& turn) const {
  return (turn.job_->first.empty() || turn.job_->second.running < limits_.of_job) &&
         (turn.peer_->first.empty() || turn.peer_->second.running < limits_.of_peer);
}

void Turns::begin(Turn& turn) {
  ++turn.job_->second.running;
  ++turn.peer_->second.running;
  turn.is_running_ = true;
}

void Turns::end(Turn& turn) {
  // Then one of its job and one of its peer may go on.
  int may_begin = turn.is_running_ ? 2 : 0;
  if (turn.is_running_) {
    --turn.job_->second.running;
    --turn.peer_->second.running;
  } else {
    waiting_.remove(&turn);
  }
  for (auto next = waiting_.begin(); may_begin > 0 && next != waiting_.end();) {
    Turn& other = **next;
    if (!has_room_for(other)) {
      ++next;
      continue;
    }
    next = waiting_.erase(next);
    begin(other);
    --may_begin;
    try {
      other.wakeup_->signal();
    } catch (const std::bad_alloc&) {
      continue;  // it looks by itself
    }
  }
  if (--turn.job_->second.users == 0) jobs_.erase(turn.job_);
  if (--turn.peer_->second.users == 0) peers_.erase(turn.peer_);
}

}  // namespace faultline
