#include "http/whole_body.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "http/connection.h"
#include "http/request_reader.h"
#include "ingest/unpack/gzip_stage.h"
#include "ingest/unpack/zstd_stage.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::milliseconds kWaitForRoom{200};

Problem too_large() {
  return {.status = 413,
          .detail = fmt::format("the body has more than {} MiB; send fewer messages at once",
                                kMostWholeBody >> 20)};
}

Problem busy() {
  return {.status = 503,
          .detail = "many bodies are held in memory until they are complete; send this one again",
          .retry_after_seconds = 5,
          .refused = "held"};
}

// Ends the unpacking when the body has become too large.
class Collector : public unpacking::Stage {
 public:
  explicit Collector(std::string& body) : body_(body) {}
  Result<void> feed(std::string_view bytes) override {
    if (body_.size() + bytes.size() > kMostWholeBody)
      return Error{Error::Kind::too_large, too_large().detail};
    body_ += bytes;
    return {};
  }
  Result<void> finish() override { return {}; }

 private:
  std::string& body_;
};

class NoFiles : public FileVisitor {
 public:
  void open(std::string_view) override {}
  void bytes(std::string_view) override {}
  void close() override {}
  void unreadable(std::uint64_t, std::string_view) override {}
};

}  // namespace

asio::awaitable<std::variant<std::string, Problem>> read_whole_body(Exchange& exchange,
                                                                    HeldBodies::Share& held) {
  const Problem gone{.status = kClientLeft};
  if (!co_await exchange.reader.invite_body()) co_return gone;
  std::string body;
  SteadyTime last_bytes = steady_now();
  for (;;) {
    const BodyEvent event =
        co_await exchange.reader.read_body(last_bytes + exchange.body_idle_limit);
    if (event == BodyEvent::end) co_return body;
    if (event == BodyEvent::closed) co_return gone;
    if (event == BodyEvent::malformed)
      co_return Problem{
          .status = 400, .detail = "the chunked body is malformed", .refused = "malformed"};
    if (event == BodyEvent::timeout)
      co_return Problem{.status = 503,  // OpenTelemetry's clients drop what is answered 408
                        .detail = "the body did not arrive in time; send it again",
                        .retry_after_seconds = 5};
    if (event == BodyEvent::pieces) {
      last_bytes = steady_now();
      for (const std::string_view piece : exchange.reader.pieces()) body += piece;
      if (body.size() > kMostWholeBody) co_return too_large();
      held.hold(body.size(), last_bytes);
    }
    while (!held.may_grow(steady_now()) && !held.has_to_end() &&
           !exchange.connection.asked_to_stop())
      co_await exchange.connection.pause(steady_now() + kWaitForRoom);
    if (held.has_to_end()) co_return busy();
    if (exchange.connection.stop_reason() == StopReason::others_wait)
      co_return gives_way("send the body again later");
    if (exchange.connection.asked_to_stop())
      co_return Problem{.status = 503,
                        .detail = "the server is stopping; send the body again",
                        .retry_after_seconds = 5};
  }
}

bool has_json_body(const Request& request) {
  std::string_view type = request.header("Content-Type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return equal_ignoring_case(type, "application/json");
}

std::variant<std::string, Problem> unpacked_body(const Request& request, std::string body) {
  const std::string_view encoding = request.header("Content-Encoding");
  if (encoding.empty() || equal_ignoring_case(encoding, "identity")) return body;
  std::string unpacked;
  NoFiles nobody;
  unpacking::Limits limits(nobody);
  limits.received(body.size());
  auto collector = std::make_unique<Collector>(unpacked);
  unpacking::StagePtr stage;
  if (equal_ignoring_case(encoding, "gzip") || equal_ignoring_case(encoding, "x-gzip"))
    stage = std::make_unique<unpacking::GzipStage>(limits, std::move(collector));
  else if (equal_ignoring_case(encoding, "zstd"))
    stage = std::make_unique<unpacking::ZstdStage>(limits, std::move(collector));
  else
    return Problem{.status = 415,
                   .detail = fmt::format("Content-Encoding \"{}\" is not supported here; send "
                                         "gzip, zstd or none",
                                         printable_name(encoding)),
                   .headers = {{"Accept-Encoding", "gzip, zstd"}}};
  Result<void> done = stage->feed(body);
  const Result<void> finished = stage->finish();
  if (done) done = finished;
  if (!done) return problem_from(done.error());
  return unpacked;
}

}  // namespace faultline
