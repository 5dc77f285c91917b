// PUT, POST /api/v1/ingest; PUT /api/v1/ingest/read; POST /upload, /journal/{job}/upload
#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include "http/connection.h"
#include "http/handlers.h"
#include "http/ingest_problems.h"
#include "http/ingest_stream.h"
#include "http/offload.h"
#include "http/problem.h"
#include "http/request_reader.h"
#include "ingest/boot_time.h"
#include "model/json.h"
#include "rules/knowledge/reader_version.h"

namespace faultline {
namespace asio = boost::asio;
namespace json = boost::json;
namespace {

// How many commits one connection may have on the way to the disk. While there are more, bodies are
// not read, and TCP slows the senders down.
constexpr std::size_t kMaxCommitsOfConnection = 4;

// When a stream pauses, what it sent so far is committed, but not more often than this.
constexpr std::chrono::milliseconds kPause{200};
constexpr std::chrono::milliseconds kLongPause{5000};
constexpr std::chrono::milliseconds kLongestUncommitted{1000};
constexpr std::chrono::milliseconds kBetweenFlushes{500};

struct NamedEncoding {
  std::string_view name;
  Encoding encoding;
};
constexpr NamedEncoding kEncodings[] = {
    {"", Encoding::detect},     {"identity", Encoding::detect}, {"gzip", Encoding::gzip},
    {"x-gzip", Encoding::gzip}, {"zstd", Encoding::zstd},       {"xz", Encoding::xz},
    {"x-xz", Encoding::xz},     {"bzip2", Encoding::bzip2},     {"x-bzip2", Encoding::bzip2}};

std::variant<Encoding, Problem> encoding_of(const Request& request) {
  const std::string_view encoding = request.header("Content-Encoding");
  for (const NamedEncoding& known : kEncodings)
    if (equal_ignoring_case(encoding, known.name)) return known.encoding;
  return Problem{
      .status = 415,
      .detail = fmt::format("Content-Encoding \"{}\" is not supported; send gzip, zstd, xz, bzip2 "
                            "or none",
                            printable_name(encoding)),
      .headers = {{"Accept-Encoding", "gzip, zstd, xz, bzip2"}}};
}

std::variant<IngestParameters, Problem> parameters_of(const Request& request,
                                                      const Services& services) {
  IngestParameters parameters;
  const QueryString& query = request.query;
  parameters.source.job = query.text("job").value_or(services.default_job);
  if (!query.has("job") && services.default_job.empty())
    return Problem{.status = 400, .detail = "say which job the logs are of: ?job=NAME"};
  if (const auto good = check_name("job", parameters.source.job); !good)
    return problem_from(good.error());
  if (const auto host = query.text("host")) {
    if (const auto good = check_name("host", *host); !good) return problem_from(good.error());
    parameters.source.host = *host;
  }
  const auto rank = query.number("rank", 0, 10'000'000);
  if (!rank) return problem_from(rank.error());
  if (*rank) parameters.source.rank = static_cast<int>(**rank);
  if (const auto source = query.text("source")) {
    if (const auto good = check_name("source", *source); !good) return problem_from(good.error());
    parameters.source.name = *source;
    parameters.source_given = true;
  } else {
    const std::string& host = parameters.source.host;
    const auto filename = disposed_filename(request.header("Content-Disposition"));
    parameters.source.name =
        fmt::format("{}/{}", host.empty() ? "unknown-host" : host,
                    filename ? printable_name(*filename) : std::string(request.peer));
  }
  const auto offset = query.number("offset");
  if (!offset) return problem_from(offset.error());
  parameters.offset = *offset;
  const auto final = query.boolean("final");
  if (!final) return problem_from(final.error());
  parameters.final = *final;
  if (const auto boot_time = query.text("boot_time")) {
    parameters.boot_time = parse_boot_time(*boot_time);
    if (!parameters.boot_time)
      return Problem{.status = 400,
                     .detail =
                         "boot_time is not a time; write 2026-03-05T00:26:48Z, or seconds since "
                         "1970 (btime in /proc/stat)"};
  }

  auto encoding = encoding_of(request);
  if (Problem* problem = std::get_if<Problem>(&encoding)) return std::move(*problem);
  parameters.encoding = std::get<Encoding>(encoding);
  const std::string_view content_type = request.header("Content-Type");
  if (is_multipart(content_type)) {
    parameters.boundary = multipart_boundary(content_type);
    if (!parameters.boundary)
      return Problem{.status = 400, .detail = "multipart/form-data must name its boundary"};
    if (parameters.encoding != Encoding::detect)
      return Problem{
          .status = 415,
          .detail = "a multipart body cannot be compressed as a whole; compress its files"};
    if (parameters.offset)
      return Problem{
          .status = 400,
          .detail = "offset names a place in one file; a multipart body may hold several"};
  }
  return parameters;
}

// A reader of another version gives batches as the store holds them after an update of this
// program. But what it did not hide must not be kept.
std::variant<IngestParameters, Problem> read_parameters(const Request& request,
                                                        const Services& services) {
  const std::string theirs = request.query.text("reader").value_or("");
  if (theirs.empty())
    return Problem{.status = 400, .detail = "say which reader made the blocks: ?reader=VERSION"};
  const std::string ours = reader_version(*services.jobs.catalog().get());
  if (!hide_the_same(theirs, ours))
    return Problem{.status = 415,
                   .detail = fmt::format("the reader {} does not hide the secrets that the reader "
                                         "of this server hides ({}); send the lines themselves to "
                                         "/api/v1/ingest",
                                         printable_name(theirs), ours)};
  auto parameters = parameters_of(request, services);
  auto* body = std::get_if<IngestParameters>(&parameters);
  if (body == nullptr) return parameters;
  if (!body->source_given || !body->offset || body->boundary)
    return Problem{.status = 400, .detail = "say where the blocks belong: ?source=NAME&offset=N"};
  const auto anyhow = request.query.boolean("whatever_came_before");
  if (!anyhow) return problem_from(anyhow.error());
  body->whatever_came_before = *anyhow;
  body->is_read = true;
  return parameters;
}

json::object json_of(const FileReceipt& receipt) {
  json::object dialects;
  for (const auto& [dialect, lines] : receipt.dialects) dialects[dialect] = lines;
  json::object object{{"source", receipt.source},
                      {"bytes", receipt.bytes},
                      {"lines", receipt.lines},
                      {"recognized", receipt.recognized},
                      {"events", receipt.facts},
                      {"next_offset", receipt.next_offset},
                      {"dialects", std::move(dialects)},
                      {"skipped_lines", receipt.skipped},
                      {"duplicate_bytes", receipt.duplicate_bytes},
                      {"refused", json::array(receipt.refused.begin(), receipt.refused.end())},
                      {"hints", json::array(receipt.hints.begin(), receipt.hints.end())}};
  if (const std::optional<Fingerprint>& block = receipt.last_block)
    object["last_block"] = {{"from", block->from_offset},
                            {"to", block->to_offset},
                            {"xxh3", fmt::format("{:016x}", block->digest)}};
  return object;
}

FileReceipt total_of(const std::vector<FileReceipt>& receipts) {
  constexpr std::size_t kMostHints = 16;
  FileReceipt total;
  std::size_t hints = 0;
  for (const FileReceipt& receipt : receipts) {
    total.bytes += receipt.bytes;
    total.duplicate_bytes += receipt.duplicate_bytes;
    total.lines += receipt.lines;
    total.recognized += receipt.recognized;
    total.skipped += receipt.skipped;
    total.facts += receipt.facts;
    for (const auto& [dialect, lines] : receipt.dialects) total.dialects[dialect] += lines;
    for (const std::string& why : receipt.refused)
      total.refused.push_back(fmt::format("{}: {}", receipt.source, why));
    for (const std::string& hint : receipt.hints)
      if (++hints <= kMostHints) total.hints.push_back(fmt::format("{}: {}", receipt.source, hint));
  }
  if (hints > kMostHints)
    total.hints.push_back(
        fmt::format("{} more files have hints; see \"files\".", hints - kMostHints));
  return total;
}

// reader: of this server, for a sender that reads its logs itself; else empty.
Response receipt_for(const IngestStream& stream, std::string_view job, std::size_t opened,
                     std::string_view reader = {}) {
  const std::vector<FileReceipt>& receipts = stream.receipts();
  FileReceipt sum =
      receipts.size() == 1 && !stream.several_files() ? receipts.front() : total_of(receipts);
  if (stream.several_files()) sum.source = stream.source();
  json::object body{{"job", job}};
  for (auto& member : json_of(sum)) body[member.key()] = std::move(member.value());
  body["findings_opened"] = opened;
  if (!reader.empty()) body["reader"] = reader;
  if (stream.several_files()) {
    body.erase("next_offset");  // each file has its own
    json::array files;
    for (const FileReceipt& receipt : receipts) files.push_back(json_of(receipt));
    body["files"] = std::move(files);
  }
  return Response::json(body);
}

// How the reading of a body ended.
struct Ending {
  std::optional<Problem> problem;
  bool client_left = false;
};

class BodyPump {
 public:
  BodyPump(IngestStream& stream, const std::string& job, Services& services, Exchange& exchange)
      : stream_(stream), job_(job), services_(services), exchange_(exchange) {}

  asio::awaitable<Ending> run() {
    Ending ending;
    while (!ending.problem) {
      const BodyEvent event = co_await exchange_.reader.read_body(next_deadline());
      if (event == BodyEvent::end) {
        auto finish = [&] { ending.problem = stream_.finish(); };
        co_await offload(seat(), finish);
        co_return ending;
      }
      if (event == BodyEvent::closed) {
        ending.client_left = true;
        co_return ending;
      }
      if (event == BodyEvent::malformed)
        ending.problem = Problem{
            .status = 400, .detail = "the chunked body is malformed", .refused = "malformed"};
      else if (event == BodyEvent::pieces)
        ending.problem = co_await take_pieces();
      else
        ending.problem = stream_.obstacle();
      if (!ending.problem) ending.problem = co_await look_around();
    }
    co_return ending;
  }

  // Waits until everything handed to the store is on the disk or refused.
  asio::awaitable<void> settle() {
    while (stream_.commits_in_flight() > 0)
      co_await exchange_.connection.pause(steady_now() + kPause);
  }

 private:
  asio::awaitable<std::optional<Problem>> take_pieces() {
    last_bytes_ = steady_now();
    std::optional<Problem> problem;
    for (std::string_view piece : exchange_.reader.pieces()) {
      while (!piece.empty() && !problem) {
        while (congested() || must_wait())
          co_await exchange_.connection.pause(steady_now() + kPause);
        const std::string_view slice = piece.substr(0, stream_.slice());
        piece.remove_prefix(slice.size());
        auto feed = [&] { problem = stream_.feed(slice); };
        co_await offload(seat(), feed);
      }
      if (problem) break;
    }
    co_return problem;
  }

  Seat seat() { return exchange_.threads.parsing(job_, exchange_.connection.peer()); }

  bool congested() const {
    const std::size_t own = stream_.commits_in_flight();
    return own >= kMaxCommitsOfConnection || (own > 0 && services_.jobs.is_congested());
  }

  // Whether others hold so much in memory that this body has to wait. It ends instead if another
  // thread says so, or if the server stops.
  bool must_wait() {
    return !stream_.may_hold_more() && !stream_.obstacle() && !exchange_.connection.asked_to_stop();
  }

  // Commits what has waited long enough; returns a problem if reading has to stop.
  asio::awaitable<std::optional<Problem>> look_around() {
    const SteadyTime now = steady_now();
    if (!stream_.pending()) {
      first_pending_.reset();
    } else if (!first_pending_) {
      first_pending_ = now;
    }
    if (now >= flush_time() && !congested()) {
      const bool for_long = now - last_bytes_ >= kLongPause;
      auto flush = [&] { stream_.flush(for_long); };
      co_await offload(seat(), flush);
      last_flush_ = now;
      first_pending_.reset();
      paused_at_ = last_bytes_;
      paused_for_long_ = for_long;
    }
    if (exchange_.connection.stop_reason() == StopReason::others_wait)
      co_return gives_way("whole lines received so far are kept, send the rest from next_offset");
    if (exchange_.connection.asked_to_stop())
      co_return Problem{
          .status = 503,
          .detail =
              "the server is stopping; whole lines received so far are kept, send the "
              "rest from next_offset",
          .retry_after_seconds = 5};
    if (now - last_bytes_ >= exchange_.body_idle_limit)
      co_return Problem{
          .status = 408,
          .detail = fmt::format("no byte of the body came for {} s; whole lines received so "
                                "far are kept",
                                exchange_.body_idle_limit.count())};
    co_return std::nullopt;
  }

  SteadyTime flush_time() const {
    // A pause may also decide what becomes of bytes that are held back: at once, or when it has
    // become long.
    const bool is_new_pause = paused_at_ != last_bytes_;
    if (!first_pending_ && !is_new_pause)
      return paused_for_long_ ? SteadyTime::max() : last_bytes_ + kLongPause;
    SteadyTime due = last_bytes_ + kPause;
    if (first_pending_) due = std::min(due, *first_pending_ + kLongestUncommitted);
    return std::max(due, last_flush_ + kBetweenFlushes);
  }

  SteadyTime next_deadline() const {
    return std::min(last_bytes_ + exchange_.body_idle_limit, flush_time());
  }

  IngestStream& stream_;
  const std::string& job_;
  Services& services_;
  Exchange& exchange_;
  SteadyTime last_bytes_ = steady_now();
  SteadyTime last_flush_ = steady_now() - kBetweenFlushes;
  SteadyTime paused_at_ = last_bytes_;  // the pause that was last looked at
  bool paused_for_long_ = true;
  std::optional<SteadyTime> first_pending_;
};

// systemd-journal-upload gives the job in its URL, if at all, and reads no receipt.
std::variant<IngestParameters, Problem> journal_parameters(const Request& request,
                                                           const Services& services) {
  IngestParameters parameters;
  std::string& job = parameters.source.job;
  job = job_of_unlabelled(services);
  for (const auto& [name, value] : request.path_values)
    if (name == "job") job = value;
  if (const auto good = check_name("job", job); !good) return problem_from(good.error());
  parameters.source.name = fmt::format("journal/{}", request.peer);
  auto encoding = encoding_of(request);
  if (Problem* problem = std::get_if<Problem>(&encoding)) return std::move(*problem);
  parameters.encoding = std::get<Encoding>(encoding);
  return parameters;
}

using Receipt = std::function<Response(const IngestStream&, std::size_t opened)>;

asio::awaitable<Response> take_body(IngestParameters parameters, Services& services,
                                    Exchange& exchange, Receipt receipt) {
  const Response nobody{.status = kClientLeft};
  const std::string job = parameters.source.job;
  const std::string& peer = exchange.connection.peer();
  // In the job's turn: reading a long job must keep only one thread busy, however many send to it.
  auto prepare = [&] { services.jobs.prepare(job); };
  if (!services.jobs.is_prepared(job))
    co_await offload(exchange.threads.answering(job, peer), prepare);
  if (const auto problem = set_aside_problem(services.jobs, job))
    co_return problem_response(*problem);
  std::optional<IngestStream> made;
  auto make = [&] {
    made.emplace(std::move(parameters), services, exchange.threads.long_reads(),
                 exchange.threads.held_bodies(), exchange.connection.waker());
  };
  co_await offload(exchange.threads.parsing(job, peer), make);
  IngestStream& stream = *made;
  if (const auto problem = stream.obstacle()) co_return problem_response(*problem);
  if (!co_await exchange.reader.invite_body()) co_return nobody;

  BodyPump pump(stream, job, services, exchange);
  Ending ending = co_await pump.run();
  if (ending.client_left || ending.problem) {
    auto abandon = [&] { stream.abandon(); };
    co_await offload(exchange.threads.parsing(job, peer), abandon);
  }
  co_await pump.settle();
  if (!ending.problem) ending.problem = stream.obstacle();

  std::size_t opened = 0;
  auto reconcile = [&] { opened = services.jobs.reconcile_soon(job); };
  co_await offload(exchange.threads.answering(job, peer), reconcile);

  if (ending.problem) {
    if (!ending.problem->next_offset) ending.problem->next_offset = stream.next_offset();
    co_return problem_response(*ending.problem);
  }
  if (ending.client_left) co_return nobody;
  co_return receipt(stream, opened);
}

}  // namespace

asio::awaitable<Response> ingest(const Request& request, Services& services, Exchange& exchange) {
  auto parameters = parameters_of(request, services);
  if (const Problem* problem = std::get_if<Problem>(&parameters))
    co_return problem_response(*problem);
  const std::string job = std::get<IngestParameters>(parameters).source.job;
  Receipt receipt = [&](const IngestStream& stream, std::size_t opened) {
    return receipt_for(stream, job, opened);
  };
  co_return co_await take_body(std::get<IngestParameters>(std::move(parameters)), services,
                               exchange, std::move(receipt));
}

// The body holds what the sender's reader made of the lines of a log.
asio::awaitable<Response> ingest_read(const Request& request, Services& services,
                                      Exchange& exchange) {
  auto parameters = read_parameters(request, services);
  if (const Problem* problem = std::get_if<Problem>(&parameters))
    co_return problem_response(*problem);
  const std::string job = std::get<IngestParameters>(parameters).source.job;
  const std::string reader = reader_version(*services.jobs.catalog().get());
  Receipt receipt = [&](const IngestStream& stream, std::size_t opened) {
    return receipt_for(stream, job, opened, reader);
  };
  co_return co_await take_body(std::get<IngestParameters>(std::move(parameters)), services,
                               exchange, std::move(receipt));
}

asio::awaitable<Response> upload_journal(const Request& request, Services& services,
                                         Exchange& exchange) {
  auto parameters = journal_parameters(request, services);
  if (const Problem* problem = std::get_if<Problem>(&parameters))
    co_return problem_response(*problem);
  Receipt receipt = [](const IngestStream&, std::size_t) {
    Response response = Response::text("OK.\n");
    response.status = 202;
    return response;
  };
  co_return co_await take_body(std::get<IngestParameters>(std::move(parameters)), services,
                               exchange, std::move(receipt));
}

}  // namespace faultline
