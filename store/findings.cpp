#include "store/findings.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <map>
#include <set>

#include "model/json.h"
#include "store/finding_parts.h"

namespace faultline {
namespace {

struct Known {
  std::int64_t number = 0;
  bool open = false;
  bool blamed = false;
  std::string body;
  bool found = false;  // this time
};

std::map<std::string, Known, std::less<>> known_findings(Database& database, std::string_view job,
                                                         int attempt) {
  std::map<std::string, Known, std::less<>> known;
  Query row = database.query(
      "SELECT id, number, resolved IS NULL, blamed, body FROM findings "
      "WHERE job = ? AND attempt = ?",
      job, attempt);
  while (row.next())
    known[std::string(row.text(0))] = {.number = row.integer(1),
                                       .open = row.integer(2) != 0,
                                       .blamed = row.integer(3) != 0,
                                       .body = std::string(row.text(4))};
  return known;
}

std::string body_of(const Finding& finding) { return compact(to_json(finding)); }

void insert(Database& database, std::string_view job, int attempt, const Finding& finding,
            bool blamed, Timestamp now) {
  const std::string body = body_of(finding);
  const bool open = finding.state == FindingState::open;
  database.run(
      "INSERT INTO findings (job, attempt, id, cause, severity, opened, changed, resolved, body, "
      "blamed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      job, attempt, finding.id, finding.cause, static_cast<int>(finding.severity), now, now,
      open ? std::nullopt : std::optional(now), body, blamed);
  insert_parts(database, database.last_insert_id(), finding);
}

// Keeps `changed` as it is when nothing did: who asks what is new gets what is new.
void update(Database& database, const Known& known, const Finding& finding, Timestamp now) {
  const std::string body = body_of(finding);
  const bool open = finding.state == FindingState::open;
  if (open == known.open && body == known.body) return;
  if (body != known.body && finding_of(database, known.body).subject != finding.subject) {
    delete_parts(database, known.number);
    insert_parts(database, known.number, finding);
  }
  database.run(
      "UPDATE findings SET cause = ?, severity = ?, changed = ?, body = ? WHERE number = ?",
      finding.cause, static_cast<int>(finding.severity), now, body, known.number);
  if (open && !known.open)
    database.run("UPDATE findings SET opened = ?, resolved = NULL WHERE number = ?", now,
                 known.number);
  if (!open && known.open)
    database.run("UPDATE findings SET resolved = ? WHERE number = ?", now, known.number);
}

void resolve(Database& database, const Known& known, Timestamp now) {
  Finding finding = finding_of(database, known.body);
  finding.state = FindingState::resolved;
  update(database, known, finding, now);
}

// Nobody is told of it, so `changed` stays.
void set_blamed(Database& database, const Known& known, bool blamed) {
  if (blamed == known.blamed) return;
  database.run("UPDATE findings SET blamed = ? WHERE number = ?", blamed, known.number);
}

// What another attempt of the job ran into is over with that attempt.
void resolve_other_attempts(Database& database, std::string_view job, int attempt, Timestamp now) {
  std::vector<Known> open;
  Query row = database.query(
      "SELECT number, body FROM findings WHERE job = ? AND attempt <> ? AND resolved IS NULL", job,
      attempt);
  while (row.next())
    open.push_back({.number = row.integer(0), .open = true, .body = std::string(row.text(1))});
  for (const Known& finding : open) resolve(database, finding, now);
}

template <class T>
std::optional<T> unless_empty(const T& value) {
  return value.empty() ? std::nullopt : std::optional(value);
}

}  // namespace

Finding finding_of(const Database& database, std::string_view body) {
  auto finding = finding_from_json(body);
  if (!finding)
    throw StoreError(
        fmt::format("{}: is damaged ({})", database.file().string(), finding.error().message));
  return *std::move(finding);
}

std::size_t reconcile(Database& database, std::string_view job, int attempt,
                      const std::vector<Finding>& found, Timestamp now,
                      const std::set<std::string, std::less<>>& blamed) {
  auto known = known_findings(database, job, attempt);
  std::size_t opened = 0;
  std::set<std::string_view> seen;
  for (const Finding& finding : found) {
    // An id stands for one finding; a second one must not keep the others from the disk.
    if (!seen.insert(finding.id).second) continue;
    const auto match = known.find(finding.id);
    const bool was_open = match != known.end() && match->second.open;
    if (finding.state == FindingState::open && !was_open) ++opened;
    if (match == known.end()) {
      insert(database, job, attempt, finding, blamed.contains(finding.id), now);
    } else {
      update(database, match->second, finding, now);
      set_blamed(database, match->second, blamed.contains(finding.id));
      match->second.found = true;
    }
  }
  for (const auto& [id, finding] : known) {
    if (finding.found) continue;
    if (finding.open) resolve(database, finding, now);
    set_blamed(database, finding, false);
  }
  resolve_other_attempts(database, job, attempt, now);
  return opened;
}

FindingPage select_findings(Database& database, const FindingFilter& filter) {
  std::optional<int> severity;
  if (filter.severity) severity = static_cast<int>(*filter.severity);
  std::optional<bool> open;
  if (filter.state) open = *filter.state == FindingState::open;
  // One query for every filter: what is null filters nothing. Findings are few; only those that
  // pass the cheap conditions have their JSON looked into.
  Query row = database.query(
      "SELECT number, job, attempt, opened, resolved, body FROM findings WHERE number > ?1 "
      "AND (?2 IS NULL OR job = ?2) AND (?3 IS NULL OR id = ?3) AND (?4 IS NULL OR cause = ?4) "
      "AND (?5 IS NULL OR severity = ?5) AND (?6 IS NULL OR (resolved IS NULL) = ?6) "
      "AND (?7 IS NULL OR changed >= ?7) "
      "AND (?8 IS NULL OR ?8 IN (SELECT value FROM json_each(body, '$.subject.hosts'))) "
      "AND (?9 IS NULL OR ?9 IN (SELECT value FROM json_each(body, '$.subject.ranks'))) "
      "ORDER BY number LIMIT ?10",
      filter.after, unless_empty<std::string_view>(filter.job),
      unless_empty<std::string_view>(filter.id), unless_empty<std::string_view>(filter.cause),
      severity, open, filter.since, unless_empty<std::string_view>(filter.host), filter.rank,
      filter.limit + 1);  // one more than asked for: is there a next page?
  FindingPage page;
  std::uint64_t last = filter.after;
  while (row.next()) {
    if (page.findings.size() == filter.limit) {
      page.next = last;
      break;
    }
    last = row.bits(0);
    page.findings.push_back({.finding = finding_of(database, row.text(5)),
                             .job = std::string(row.text(1)),
                             .attempt = static_cast<int>(row.integer(2)),
                             .opened = row.time(3),
                             .resolved = row.maybe_time(4)});
  }
  return page;
}

}  // namespace faultline
