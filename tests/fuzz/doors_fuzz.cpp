// Any body at any door of a log shipper: whole lines in the sources of a few jobs, not much more
// than came in. The first byte says which door.
#include <algorithm>

#include "doors/loki.h"
#include "doors/otlp.h"
#include "doors/shipped_objects.h"
#include "doors/source_lines.h"
#include "oracle.h"
#include "service/recent_lines.h"

namespace {

using namespace faultline;

void read_at(unsigned door, std::string_view body, RecordVisitor& visitor) {
  switch (door % 7) {
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
    default:
      (void)read_events(body, visitor);
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
  read_at(door, input.rest(), lines);
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
