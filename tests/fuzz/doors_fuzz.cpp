// Any body at any door of a log shipper: whole lines in the sources of a few jobs, not much more
// than came in. The first byte says which door. The frames of syslog are the same however the bytes
// are cut.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doors/loki.h"
#include "doors/otlp.h"
#include "doors/shipped_objects.h"
#include "doors/source_lines.h"
#include "doors/syslog.h"
#include "doors/syslog_framing.h"
#include "oracle.h"
#include "service/recent_lines.h"

namespace {

using namespace faultline;

// The messages in the bytes of a connection that come in such pieces, and why it ended.
std::vector<std::string> syslog_messages(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> messages;
  SyslogFraming framing;
  std::string_view message;
  for (bool goes_on = true; goes_on && !bytes.empty();) {
    const std::string copy(bytes.substr(0, piece));
    bytes.remove_prefix(copy.size());
    for (std::string_view rest = copy; goes_on && !rest.empty();) {
      const SyslogFraming::Found found = framing.next(rest, message);
      if (found == SyslogFraming::Found::message) {
        require(message.size() <= SyslogFraming::kLongestMessage, "messages are bounded");
        messages.emplace_back(message);
      }
      if (found == SyslogFraming::Found::nothing) require(rest.empty(), "all bytes are taken");
      goes_on = found != SyslogFraming::Found::no_syslog;
    }
  }
  if (framing.finish(message)) messages.emplace_back(message);
  messages.emplace_back(framing.why());
  return messages;
}

void read_connection_of_syslog(std::string_view bytes, std::size_t cut, SourceLines& lines) {
  const Timestamp received = std::chrono::sys_days{std::chrono::year{2026} / 3 / 5};
  std::vector<std::string> messages =
      syslog_messages(bytes, std::max<std::size_t>(1, bytes.size()));
  require(messages == syslog_messages(bytes, cut + 1), "frames do not depend on the cut");
  messages.pop_back();
  for (const std::string& message : messages) {
    const std::uint64_t before = lines.messages() + lines.too_many();
    read_syslog(message, received, lines);
    require(lines.messages() + lines.too_many() == before + 1, "each frame is one message");
  }
}

void read_at(unsigned door, std::string_view body, std::size_t cut, SourceLines& visitor) {
  switch (door % 8) {
    case 0:
      (void)read_loki_json(body, visitor);
      return;
    case 1:
      (void)read_loki_protobuf(body, visitor);
      return;
    case 2:
      (void)read_otlp_json(body, visitor);
      return;
    case 3:
      (void)read_otlp_protobuf(body, visitor);
      return;
    case 4:
      read_objects(body, visitor);
      return;
    case 5:
      (void)read_bulk(body, "logs", visitor);
      return;
    case 6:
      (void)read_events(body, visitor);
      return;
    default:
      read_connection_of_syslog(body, cut, visitor);
  }
}

// Lines that were pushed before are known, in whatever pieces they come again.
void expect_known(const std::string& lines, std::size_t cut) {
  RecentLines first(1);
  first.begin_body(0);
  first.add(lines);
  const std::string saved = first.saved(lines.size());
  const RecentLines next(2, saved);
  const std::size_t newline = lines.find('\n', std::min(cut, lines.size() - 1));
  const std::string_view head = std::string_view(lines).substr(0, newline + 1);
  require(next.known_bytes(lines) == lines.size(), "the whole body is known");
  require(next.known_bytes(head) == head.size(), "a beginning of the body is known");
  require(first.known_bytes(lines) == 0, "nothing is known of what came to this server");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const unsigned door = input.byte();
  const std::size_t cut = input.byte();
  const LabelNames names;
  const DestinationDefaults defaults{.job = "unlabelled", .sender = "10.0.0.9", .source = "peer"};
  SourceLines lines(names, defaults);
  read_at(door, input.rest(), cut, lines);
  require(lines.source_of_message().size() == lines.messages() + lines.too_many(),
          "each message has a source, or is counted");
  require(lines.sources().size() <= SourceLines::kMostSources, "sources are bounded");
  std::size_t bytes = 0;
  std::uint64_t messages = 0;
  for (const auto& [destination, of_source] : lines.sources()) {
    require(!destination.job.empty(), "a source is of a job");
    require(!destination.source.empty(), "a source has a name");
    require(of_source.text.ends_with('\n'), "lines are whole");
    bytes += of_source.text.size();
    messages += of_source.messages;
    const auto count = static_cast<std::size_t>(std::ranges::count(of_source.text, '\n'));
    if (count <= RecentLines::kLines) expect_known(of_source.text, cut);
  }
  require(bytes == lines.bytes(), "all bytes are counted");
  require(messages == lines.messages(), "all messages are counted");
  return 0;
}
