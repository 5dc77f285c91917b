#include "app/input_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "ingest/file_names.h"
#include "ingest/hints.h"
#include "ingest/reader.h"
#include "ingest/unpack.h"
#include "model/refusals.h"

namespace faultline {
namespace {

// Files are read, not mapped: pages of a mapped file count as the program's memory, and a file that
// shrinks while it is mapped would kill the program.
constexpr std::size_t kBuffer = std::size_t{256} << 10;
constexpr std::uint64_t kBatchBytes = std::uint64_t{4} << 20;

// Whether this is truth.json, which `faultline simulate` writes beside its logs and which is no
// log. Looks at the content, not at the name.
bool is_truth_of_simulation(std::string_view head) {
  const auto holds = [head](std::string_view key) {
    return head.find(key) != std::string_view::npos;
  };
  return head.starts_with('{') && holds("\"scenario\":") && holds("\"may_name\":") &&
         holds("\"healthy_twin\":");
}
constexpr std::string_view kTruth =
    "this is not a log, and is not read: here `faultline simulate` says which fault it put into "
    "the logs beside it";

// Of one archive.
constexpr std::size_t kMostHints = 16;

class OpenFile {
 public:
  explicit OpenFile(const InputFile& input)
      : is_stdin_(input.path == InputFile::kStdin),
        descriptor_(is_stdin_ ? STDIN_FILENO : open(input.path.c_str(), O_RDONLY | O_CLOEXEC)),
        error_(descriptor_ < 0 ? errno : 0) {
    // Only advice; a pipe has no use for it.
    if (descriptor_ >= 0) (void)posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~OpenFile() {
    if (descriptor_ >= 0 && !is_stdin_) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool ok() const { return error_ == 0; }
  std::string reason() const { return std::generic_category().message(error_); }

  // 0: the end, or an error.
  std::size_t read_some(char* buffer, std::size_t size) {
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, buffer, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0) error_ = errno;
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }

 private:
  bool is_stdin_;
  int descriptor_;
  int error_;
};

// Reads each file that the unpacker finds as a source.
class SourceReading : public FileVisitor {
 public:
  SourceReading(const Source& said, std::shared_ptr<const Noteworthy> noteworthy,
                Timestamp received, Timestamp now, const Deliver& deliver,
                std::optional<Timestamp> boot_time)
      : said_(said),
        noteworthy_(std::move(noteworthy)),
        received_(received),
        now_(now),
        deliver_(deliver),
        boot_time_(boot_time) {}

  void open(std::string_view name) override {
    Source source = said_;
    source.name = names_.next(name);
    source_ = std::make_shared<const Source>(std::move(source));
    reader_.emplace(Cursor{}, now_, noteworthy_);
    if (boot_time_) reader_->set_boot_time(*boot_time_);
    look_ = {};
    counts_ = {};
    at_head_ = true;
  }

  void bytes(std::string_view piece) override {
    if (!reader_) return;
    if (std::exchange(at_head_, false) && is_truth_of_simulation(piece)) {
      unreadable(0, kTruth);
      return;
    }
    look_.feed(piece);
    reader_->feed(piece);
    if (reader_->pending_bytes() >= kBatchBytes) hand_over();
  }

  void close() override {
    if (!reader_) return;
    reader_->close();
    hand_over();
    reader_.reset();
    for (const Hint& hint : look_.hints(counts_))
      if (hint.certain) give_hint(hint.text);
  }

  void unreadable(std::uint64_t, std::string_view hint) override {
    give_hint(hint);
    reader_.reset();
  }

  // The input broke off: there is more of the last file than was read.
  void broke_off() {
    if (!source_) return;
    Batch nothing_more;
    nothing_more.end = SourceEnd::open;
    wanted_ = deliver_({source_, std::move(nothing_more), received_}) && wanted_;
  }

  bool wanted() const { return wanted_; }
  std::vector<std::string> take_hints() { return std::move(hints_); }

 private:
  void hand_over() {
    Batch batch = reader_->take();
    counts_.lines += batch.lines;
    counts_.recognized += batch.recognized;
    counts_.skipped += batch.skipped;
    counts_.refused = counts_.refused || !refusals_in(batch).empty();
    wanted_ = deliver_({source_, std::move(batch), received_}) && wanted_;
  }

  void give_hint(std::string_view hint) {
    if (hints_.size() < kMostHints) hints_.push_back(fmt::format("{}: {}", source_->name, hint));
  }

  const Source& said_;
  std::shared_ptr<const Noteworthy> noteworthy_;
  Timestamp received_;
  Timestamp now_;
  const Deliver& deliver_;
  std::optional<Timestamp> boot_time_;
  FileNames names_;
  std::shared_ptr<const Source> source_;
  std::optional<Reader> reader_;
  BodyLook look_;
  BodyCounts counts_;
  bool at_head_ = true;
  std::vector<std::string> hints_;
  bool wanted_ = true;
};

}  // namespace

InputEnd read_input(const InputFile& input, const Source& said,
                    const std::shared_ptr<const Noteworthy>& noteworthy,
                    std::atomic<std::uint64_t>& bytes_read, Timestamp now, const Deliver& deliver,
                    std::optional<Timestamp> boot_time) {
  OpenFile file(input);
  if (!file.ok()) return {false, file.reason(), {}};

  SourceReading sources(said, noteworthy, input.changed, now, deliver, boot_time);
  Unpacker unpacker(input.name, Encoding::detect, sources);
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBuffer);
  bool readable = false;
  while (sources.wanted()) {
    const std::size_t size = file.read_some(buffer.get(), kBuffer);
    readable = readable || file.ok();  // an empty file is readable, too
    if (size == 0) break;
    bytes_read += size;
    if (auto fed = unpacker.feed({buffer.get(), size}); !fed) {
      sources.broke_off();
      return {true, fed.error().message, sources.take_hints()};
    }
  }
  auto finished = unpacker.finish();
  if (!file.ok() || !finished) sources.broke_off();
  if (!file.ok()) return {readable, file.reason(), {}};
  return {true, finished ? "" : finished.error().message, sources.take_hints()};
}

}  // namespace faultline
