#include "faults/checker.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <exception>
#include <map>
#include <set>

#include "faults/client.h"
#include "faults/database.h"
#include "model/bytes.h"

namespace faultline::faults {
namespace {

namespace json = boost::json;

// What a source carries, which may be compressed. What cannot be read holds no line.
std::string unpacked(std::string_view carry, bool is_compressed) {
  if (!is_compressed) return std::string(carry);
  constexpr unsigned long long kMost = 64 << 20;
  const unsigned long long size = ZSTD_getFrameContentSize(carry.data(), carry.size());
  if (size > kMost) return {};  // also if it is not known
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const std::size_t read = ZSTD_decompress(bytes.data(), bytes.size(), carry.data(), carry.size());
  return ZSTD_isError(read) ? std::string() : bytes;
}

// What must be stored of a source's text.
struct Expected {
  std::uint64_t lines = 0;
  std::uint64_t calls = 0;
  std::uint64_t recognized = 0;
  std::set<std::uint64_t> facts;  // offsets of lines that must be facts
  std::set<std::uint64_t> notes;  // offsets of lines that may be facts
};

Expected expected_of(std::string_view text, Notes notes) {
  Expected expected;
  for (std::size_t at = 0; at < text.size(); ++expected.lines) {
    const std::size_t end = text.find('\n', at) + 1;
    if (end == 0) break;
    const LineKind kind = kind_of(text.substr(at));
    if (kind != LineKind::note) ++expected.recognized;
    if (kind == LineKind::call)
      ++expected.calls;
    else if (kind == LineKind::fact || notes == Notes::facts)
      expected.facts.insert(at);
    else if (notes == Notes::either)
      expected.notes.insert(at);
    at = end;
  }
  return expected;
}

// A source as the database has it.
struct Held {
  std::uint64_t id = 0;
  std::uint64_t read_to = 0;
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::string carry;
};

// A body, or a part of one, that was stored as a batch.
struct Print {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t digest = 0;
};

// The batches that were merged into one. Empty: it was not merged.
std::vector<Print> prints_in(std::string_view bytes) {
  ByteReader in(bytes);
  const auto digest = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 8) value |= std::uint64_t{in.byte()} << shift;
    return value;
  };
  std::vector<Print> prints(bytes.empty() ? 0 : in.count(1));
  std::uint64_t at = 0;
  for (Print& print : prints) {
    in.signed_number();  // of the batch
    print.from = at + static_cast<std::uint64_t>(in.signed_number());
    print.to = at = print.from + (in.number() >> 1U);
    print.digest = digest();
    digest();  // of its first bytes
  }
  return prints;
}

class Check {
 public:
  Check(const Ledger& ledger, Stage stage) : ledger_(ledger), stage_(stage) {}

  void read(const std::filesystem::path& file) {
    OpenedDatabase database(file);
    database.text("BEGIN");  // all reads below see one state
    const std::string integrity = database.text("PRAGMA integrity_check");
    if (integrity != "ok") fail("the database is damaged: {}", integrity);
    if (const std::string row = database.text("PRAGMA foreign_key_check"); !row.empty())
      fail("rows of {} belong to nothing", row);
    read_sources(database);
    for (const SentSource& source : ledger_.sources) check_extent(source);
    for (const auto& [source, held] : held_) {
      check_batches(database, *source, held);
      check_events(database, *source, held);
    }
  }

  void ask(int port) {
    std::size_t seen = 0;
    for (const std::string& job : jobs_of(ledger_)) {
      const Answer answer = get(port, fmt::format("/api/v1/sources?job={}&limit=1000", job));
      if (answer.status == 404) continue;  // nothing was acknowledged, or check_extent has failed
      json::value value;
      try {
        value = json::parse(answer.body);
        for (const json::value& row : value.at("sources").as_array()) {
          check_answer(job, row.as_object());
          ++seen;
        }
      } catch (const std::exception&) {
        fail("/api/v1/sources?job={} answers {} {}", job, answer.status, answer.body);
      }
      check_calls(port, job);
      const Answer diagnosis = get(port, fmt::format("/api/v1/jobs/{}/diagnosis", job));
      if (diagnosis.status != 200)
        fail("the diagnosis of {} was answered with {} {}", job, diagnosis.status, diagnosis.body);
    }
    for (const auto& [source, held] : held_) check_lines(port, *source, held);
    if (seen != held_.size()) fail("the API knows {} sources, the database {}", seen, held_.size());
  }

  std::vector<std::string> failures;

 private:
  template <class... Values>
  void fail(fmt::format_string<Values...> form, Values&&... values) {
    failures.push_back(fmt::format(form, std::forward<Values>(values)...));
  }

  const SentSource* sent(std::string_view job, std::string_view name) const {
    for (const SentSource& source : ledger_.sources)
      if (source.job == job && source.name == name) return &source;
    return nullptr;
  }

  void read_sources(OpenedDatabase& database) {
    database.each(
        "SELECT id, job, name, read_to, lines, recognized, carry, carry_form FROM sources",
        [&](sqlite3_stmt* row) {
          const SentSource* source = sent(text_in(row, 1), text_in(row, 2));
          if (source == nullptr)
            fail("the source {} was never sent", text_in(row, 2));
          else
            held_[source] = {integer_in(row, 0), integer_in(row, 3), integer_in(row, 4),
                             integer_in(row, 5),
                             unpacked(text_in(row, 6), integer_in(row, 7) != 0)};
        });
  }

  Expected expected_so_far(const SentSource& source, const Held& held) const {
    return expected_of(std::string_view(source.text).substr(0, held.read_to), ledger_.notes);
  }

  // The source was read to the end of a line, at least as far as acknowledged and no further than
  // sent. Its counts are those of the text up to there.
  void check_extent(const SentSource& source) {
    const auto found = held_.find(&source);
    const std::uint64_t read_to = found == held_.end() ? 0 : found->second.read_to;
    const std::uint64_t least = source.acknowledged_bytes();
    if (read_to < least)
      fail("{}: LOST: {} bytes were acknowledged and {} are held", source.name, least, read_to);
    if (read_to > source.text.size())
      fail("{}: {} bytes were sent and {} are held", source.name, source.text.size(), read_to);
    if (stage_ == Stage::after_rest && read_to != source.text.size())
      fail("{}: of {} bytes {} are held", source.name, source.text.size(), read_to);
    if (found == held_.end() || read_to > source.text.size()) return;
    if (read_to > 0 && source.text[read_to - 1] != '\n')
      fail("{}: it was read to {}, in mid-line", source.name, read_to);
    const Expected expected = expected_so_far(source, found->second);
    if (found->second.lines != expected.lines || found->second.recognized != expected.recognized)
      fail("{}: {} lines, {} recognized; they should be {} and {}", source.name,
           found->second.lines, found->second.recognized, expected.lines, expected.recognized);
  }

  // The batches cover the source without gap or overlap, and hold the very bytes that were sent.
  void check_batches(OpenedDatabase& database, const SentSource& source, const Held& held) {
    std::uint64_t covered = 0;
    database.each(
        fmt::format("SELECT from_offset, to_offset, digest, prints FROM batches WHERE source = {} "
                    "ORDER BY id",
                    held.id),
        [&](sqlite3_stmt* row) {
          const std::uint64_t from = integer_in(row, 0);
          const std::uint64_t to = integer_in(row, 1);
          if (from != covered)
            fail("{}: a batch begins at {}, and the one before ended at {}", source.name, from,
                 covered);
          covered = to;
          if (from > to || to > source.text.size()) return;
          std::vector<Print> prints = prints_in(text_in(row, 3));
          if (prints.empty()) prints = {{from, to, integer_in(row, 2)}};
          std::uint64_t printed = from;
          for (const Print& print : prints) {
            if (print.from != printed || print.to < print.from || print.to > to ||
                XXH3_64bits(source.text.data() + print.from, print.to - print.from) != print.digest)
              return fail("{}: bytes {} to {} are not those that were sent", source.name,
                          print.from, print.to);
            printed = print.to;
          }
          if (printed != to) fail("{}: what was sent ends at {}, not {}", source.name, printed, to);
        });
    if (covered != held.read_to)
      fail("{}: its batches end at {}, and it was read to {}", source.name, covered, held.read_to);
  }

  // Every fact is stored once and word for word; nothing else is stored.
  void check_events(OpenedDatabase& database, const SentSource& source, const Held& held) {
    const std::string_view text = std::string_view(source.text).substr(0, held.read_to);
    Expected expected = expected_so_far(source, held);
    std::set<std::uint64_t>& missing = expected.facts;
    database.each(
        fmt::format("SELECT events.offset, text FROM events JOIN batches ON batches.id = batch "
                    "WHERE source = {}",
                    held.id),
        [&](sqlite3_stmt* row) {
          const std::uint64_t at = integer_in(row, 0);
          if (missing.erase(at) + expected.notes.erase(at) == 0)
            fail("{}: TWICE, or never sent: a fact at byte {}", source.name, at);
          else if (text.substr(at, text.find('\n', at) - at) != text_in(row, 1))
            fail("{}: the line at byte {} is another one", source.name, at);
        });
    // The last line may continue on the next one: it is held back until that has come.
    std::erase_if(missing, [&](std::uint64_t at) {
      return held.carry.find(text.substr(at, text.find('\n', at) - at)) != std::string::npos;
    });
    if (!missing.empty())
      fail("{}: LOST: {} facts, the first of them at byte {}", source.name, missing.size(),
           *missing.begin());
  }

  void check_answer(std::string_view job, const json::object& row) {
    const std::string name(row.at("source").as_string());
    const auto found = held_.find(sent(job, name));
    if (found == held_.end()) return fail("the API knows {}, which the database does not", name);
    const Held& held = found->second;
    const auto says = [&](const char* field, std::uint64_t value) {
      if (row.at(field).to_number<std::uint64_t>() != value)
        fail("{}: the API says that its {} is {}, the database {}", name, field,
             json::serialize(row.at(field)), value);
    };
    says("next_offset", held.read_to);
    says("lines", held.lines);
    says("recognized", held.recognized);
  }

  // Each process has entered as many collectives as its log has calls.
  void check_calls(int port, const std::string& job) {
    const Answer answer = get(port, fmt::format("/api/v1/jobs/{}/ranks", job));
    std::map<std::string, std::uint64_t> entered;  // by host
    try {
      const json::value ranks = json::parse(answer.body);
      for (const json::value& rank : ranks.at("ranks").as_array())
        for (const json::value& standing : rank.at("standings").as_array())
          entered[std::string(rank.at("host").as_string())] +=
              standing.at("position").to_number<std::uint64_t>();
    } catch (const std::exception&) {
      return fail("the ranks of {} were answered with {} {}", job, answer.status, answer.body);
    }
    for (const auto& [source, held] : held_) {
      if (source->job != job) continue;
      const std::uint64_t calls = expected_so_far(*source, held).calls;
      if (const std::uint64_t counted = entered[source->host()]; counted != calls)
        fail("{}: {} has entered {} collectives; its log has {} calls", source->name,
             source->host(), counted, calls);
    }
  }

  // The API shows the lines that were sent, each at its number. It may leave out calls.
  void check_lines(int port, const SentSource& source, const Held& held) {
    constexpr std::uint64_t kAround = 20;
    if (held.lines == 0) return;
    const std::uint64_t middle = 1 + held.lines / 2;
    const Answer answer = get(port, fmt::format("/api/v1/jobs/{}/lines?source={}&line={}&around={}",
                                                source.job, source.name, middle, kAround));
    if (answer.status != 200)
      return fail("{}: its lines were answered with {} {}", source.name, answer.status,
                  answer.body);
    std::uint64_t next = middle - std::min(middle - 1, kAround);
    const std::uint64_t last = std::min(middle + kAround, held.lines);
    std::size_t at = 0;
    for (std::uint64_t line = 1; line < next; ++line) at = source.text.find('\n', at) + 1;
    const json::value value = json::parse(answer.body);
    for (const json::value& shown : value.at("lines").as_array()) {
      bool is_right = shown.at("line").to_number<std::uint64_t>() == next;
      for (; next <= shown.at("last").to_number<std::uint64_t>() && is_right; ++next) {
        const std::string_view line =
            std::string_view(source.text).substr(at, source.text.find('\n', at) - at);
        is_right = shown.at("text").is_null() ? kind_of(line) == LineKind::call
                                              : shown.at("text") == json::string(line);
        at += line.size() + 1;
      }
      if (!is_right)
        return fail("{}: line {} is shown as {}", source.name, next, json::serialize(shown));
    }
    if (next != last + 1) fail("{}: line {} is not shown", source.name, next);
  }

  const Ledger& ledger_;
  Stage stage_;
  std::map<const SentSource*, Held> held_;
};

}  // namespace

std::vector<std::string> check_database(const Ledger& ledger, const std::filesystem::path& database,
                                        Stage stage) {
  Check check(ledger, stage);
  check.read(database);
  return check.failures;
}

std::vector<std::string> check(const Ledger& ledger, const std::filesystem::path& database,
                               int port, Stage stage) {
  Check check(ledger, stage);
  try {
    check.read(database);
    check.ask(port);
  } catch (const std::exception& failure) {
    check.failures.push_back(fmt::format("the database cannot be read: {}", failure.what()));
  }
  return check.failures;
}

}  // namespace faultline::faults
