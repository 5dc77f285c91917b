#include "store/findings.h"

#include <fmt/format.h>

#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "model/json.h"
#include "store/finding_parts.h"
#include "store/incidents.h"
#include "store/outbox.h"

namespace faultline {
namespace {

constexpr std::string_view kNotSeen = "not_seen";
constexpr std::string_view kCounterStopped = "counter_stopped";
constexpr std::string_view kNewAttempt = "new_attempt";
constexpr std::string_view kJobEnded = "job_ended";
constexpr std::string_view kClosed = "closed";
constexpr std::string_view kWrong = "wrong";

struct Known {
  std::int64_t number = 0;
  std::string id;
  bool open = false;
  bool blamed = false;
  std::string body;
  Role role = Role::observation;
  std::string incident;
  std::string review;
  std::optional<Timestamp> reviewed;
  Timestamp opened;
  bool found = false;  // this time
};

// How to store a finding.
struct Place {
  Role role = Role::observation;
  std::string incident;
  std::string_view reason;  // if it is not open
};

class Reconciliation {
 public:
  Reconciliation(Database& database, std::string_view job, Timestamp now,
                 const AlertRouting& routing)
      : database_(database), job_(job), now_(now), routing_(routing) {}

  std::size_t run(int attempt, const std::vector<Finding>& found, const Standing& standing);
  void resolve(const Known& known, std::string_view reason);
  void route(std::int64_t number, const Finding& finding, const Place& place, Timestamp opened);

 private:
  void insert(int attempt, const Finding& finding, const Place& place, bool blamed);
  void update(const Known& known, const Finding& finding, const Place& place);
  void set_blamed(const Known& known, bool blamed);
  void resolve_other_attempts(int attempt, std::string_view reason);

  Database& database_;
  std::string_view job_;
  Timestamp now_;
  const AlertRouting& routing_;
};

constexpr std::string_view kKnownColumns =
    "number, id, resolved IS NULL, blamed, body, role, incident, review, reviewed, opened ";

Known known_of(const Query& row) {
  return {.number = row.integer(0),
          .id = std::string(row.text(1)),
          .open = row.integer(2) != 0,
          .blamed = row.integer(3) != 0,
          .body = std::string(row.text(4)),
          .role = static_cast<Role>(row.integer(5)),
          .incident = std::string(row.text(6)),
          .review = std::string(row.text(7)),
          .reviewed = row.maybe_time(8),
          .opened = row.time(9)};
}

std::map<std::string, Known, std::less<>> known_findings(Database& database, std::string_view job,
                                                         int attempt) {
  static const std::string kSelect =
      "SELECT " + std::string(kKnownColumns) + "FROM findings WHERE job = ? AND attempt = ?";
  std::map<std::string, Known, std::less<>> known;
  Query row = database.query(kSelect, job, attempt);
  while (row.next()) {
    Known finding = known_of(row);
    std::string id = finding.id;
    known.emplace(std::move(id), std::move(finding));
  }
  return known;
}

std::string body_of(const Finding& finding) { return compact(to_json(finding)); }

// Whether an operator called the finding wrong, or closed it and it was not seen since.
bool is_muted(const Known& known, const Finding& finding) {
  if (known.review == kWrong) return true;
  return known.review == kClosed && !(finding.last_seen && *finding.last_seen > *known.reviewed);
}

void Reconciliation::route(std::int64_t number, const Finding& finding, const Place& place,
                           Timestamp opened) {
  const bool open = finding.state == FindingState::open;
  route_finding(database_, number,
                {.finding = finding,
                 .job = job_,
                 .role = place.role,
                 .incident = place.incident,
                 .now = now_,
                 .opened = opened},
                open, !open && place.reason != kNotSeen, routing_);
}

constexpr std::string_view kNextChange = "(SELECT coalesce(max(change), 0) + 1 FROM findings)";

void Reconciliation::insert(int attempt, const Finding& finding, const Place& place, bool blamed) {
  static const std::string kInsert =
      "INSERT INTO findings (job, attempt, id, cause, severity, opened, changed, resolved, body, "
      "blamed, role, incident, reason, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " +
      std::string(kNextChange) + ")";
  const std::string body = body_of(finding);
  const bool open = finding.state == FindingState::open;
  database_.run(kInsert, job_, attempt, finding.id, name_of(finding.cause),
                static_cast<int>(finding.severity), now_, now_,
                open ? std::nullopt : std::optional(now_), body, blamed,
                static_cast<int>(place.role), place.incident,
                open ? std::string_view{} : place.reason);
  const std::int64_t number = database_.last_insert_id();
  insert_parts(database_, number, finding);
  if (open) route(number, finding, place, now_);
}

// Leaves `changed` as it is if nothing changed: a client that asks for changes gets only changes.
void Reconciliation::update(const Known& known, const Finding& finding, const Place& place) {
  static const std::string kUpdate =
      "UPDATE findings SET cause = ?, severity = ?, changed = ?, body = ?, role = ?, incident = ?, "
      "change = " +
      std::string(kNextChange) + " WHERE number = ?";
  const std::string body = body_of(finding);
  const bool open = finding.state == FindingState::open;
  // Routed even if the finding is unchanged: the receivers may be others than last time.
  if (open || known.open) route(known.number, finding, place, known.open ? known.opened : now_);
  if (open == known.open && body == known.body && place.role == known.role &&
      place.incident == known.incident)
    return;
  if (body != known.body && finding_of(database_, known.body).subject != finding.subject) {
    delete_parts(database_, known.number);
    insert_parts(database_, known.number, finding);
  }
  database_.run(kUpdate, name_of(finding.cause), static_cast<int>(finding.severity), now_, body,
                static_cast<int>(place.role), place.incident, known.number);
  if (open && !known.open)
    database_.run(
        "UPDATE findings SET opened = ?, resolved = NULL, reason = '', openings = openings + 1 "
        "WHERE number = ?",
        now_, known.number);
  if (!open && known.open)
    database_.run("UPDATE findings SET resolved = ?, reason = ? WHERE number = ?", now_,
                  place.reason, known.number);
}

void Reconciliation::resolve(const Known& known, std::string_view reason) {
  Finding finding = finding_of(database_, known.body);
  finding.state = FindingState::resolved;
  update(known, finding, {.role = known.role, .incident = known.incident, .reason = reason});
}

// No receiver and no client sees this change, so `changed` stays.
void Reconciliation::set_blamed(const Known& known, bool blamed) {
  if (blamed == known.blamed) return;
  database_.run("UPDATE findings SET blamed = ? WHERE number = ?", blamed, known.number);
}

// A finding of another attempt of the job ends with that attempt.
void Reconciliation::resolve_other_attempts(int attempt, std::string_view reason) {
  static const std::string kSelect =
      "SELECT " + std::string(kKnownColumns) +
      "FROM findings WHERE job = ? AND attempt <> ? AND resolved IS NULL";
  std::vector<Known> open;
  {
    Query row = database_.query(kSelect, job_, attempt);
    while (row.next()) open.push_back(known_of(row));
  }
  for (const Known& finding : open) resolve(finding, reason);
}

Role role_of(const Standing& standing, std::string_view id) {
  if (standing.causes.contains(id)) return Role::cause;
  return standing.symptoms.contains(id) ? Role::symptom : Role::observation;
}

std::size_t Reconciliation::run(int attempt, const std::vector<Finding>& found,
                                const Standing& standing) {
  auto known = known_findings(database_, job_, attempt);
  std::vector<KnownIncident> incidents;
  for (const auto& [id, finding] : known)
    if (finding.open && !finding.incident.empty())
      incidents.push_back({.finding = id, .incident = finding.incident, .age = finding.number});
  const auto incident_of = incidents_of(found, standing, std::move(incidents));

  std::size_t opened = 0;
  std::set<std::string_view> seen;
  for (const Finding& finding : found) {
    // Skip a second finding of the same id: it must not keep the others from being stored.
    if (!seen.insert(finding.id).second) continue;
    const auto match = known.find(finding.id);
    const auto incident = incident_of.find(finding.id);
    Place place{.role = role_of(standing, finding.id),
                .incident = incident == incident_of.end() ? "" : incident->second,
                .reason = kCounterStopped};  // the only end that a diagnosis itself reports
    Finding kept = finding;
    if (standing.over) {
      kept.state = FindingState::resolved;
      place.reason = kJobEnded;
    }
    if (match != known.end() && is_muted(match->second, finding)) {
      kept.state = FindingState::resolved;
      place.reason = match->second.review;
    }
    const bool was_open = match != known.end() && match->second.open;
    if (kept.state == FindingState::open && !was_open) ++opened;
    const bool blamed = standing.blamed.contains(finding.id);
    if (match == known.end()) {
      insert(attempt, kept, place, blamed);
    } else {
      update(match->second, kept, place);
      set_blamed(match->second, blamed);
      match->second.found = true;
    }
  }
  for (const auto& [id, finding] : known) {
    if (finding.found) continue;
    if (finding.open) resolve(finding, kNotSeen);
    set_blamed(finding, false);
  }
  resolve_other_attempts(attempt, standing.over ? kJobEnded : kNewAttempt);
  return opened;
}

constexpr std::string_view kStoredColumns =
    "number, job, attempt, opened, resolved, body, role, incident, reason, review, change ";

StoredFinding stored_finding(const Database& database, const Query& row) {
  return {.finding = finding_of(database, row.text(5)),
          .job = std::string(row.text(1)),
          .attempt = static_cast<int>(row.integer(2)),
          .opened = row.time(3),
          .resolved = row.maybe_time(4),
          .role = static_cast<Role>(row.integer(6)),
          .incident = std::string(row.text(7)),
          .reason = std::string(row.text(8)),
          .review = std::string(row.text(9)),
          .change = row.bits(10)};
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
                      const std::vector<Finding>& found, Timestamp now, const Standing& standing,
                      const AlertRouting& routing) {
  return Reconciliation(database, job, now, routing).run(attempt, found, standing);
}

std::optional<StoredFinding> review(Database& database, std::string_view id, const Review& review,
                                    Timestamp now, const AlertRouting& routing) {
  static const std::string kSelect =
      "SELECT " + std::string(kKnownColumns) +
      ", job FROM findings WHERE id = ? ORDER BY number DESC LIMIT 1";
  static const std::string kSelectOthers =
      "SELECT " + std::string(kKnownColumns) +
      "FROM findings WHERE job = ? AND incident = ? AND number <> ?";
  static const std::string kUpdate =
      "UPDATE findings SET review = ?, reviewed = ?, changed = ?, change = " +
      std::string(kNextChange) + " WHERE number = ?";
  std::vector<Known> meant;
  std::string job;
  {
    Query row = database.query(kSelect, id);
    if (!row.next()) return std::nullopt;
    meant.push_back(known_of(row));
    job = row.text(10);
  }
  const std::int64_t number = meant.front().number;
  const std::string incident = meant.front().incident;
  const std::string_view verdict = boost::describe::enum_to_string(review.verdict, "");
  database.run("INSERT INTO reviews (finding, verdict, who, note, time) VALUES (?, ?, ?, ?, ?)",
               number, verdict, review.who, review.note, now);
  // If a failure is over, so are all its symptoms. If an accusation was wrong, the symptoms stay:
  // they must have another cause.
  const bool whole =
      review.verdict == ReviewVerdict::closed || review.verdict == ReviewVerdict::reopened;
  if (whole && !incident.empty()) {
    Query row = database.query(kSelectOthers, job, incident, number);
    while (row.next()) meant.push_back(known_of(row));
  }
  for (const Known& known : meant) {
    database.run(kUpdate, verdict, now, now, known.number);
    if (known.open && (verdict == kWrong || verdict == kClosed))
      Reconciliation(database, job, now, routing).resolve(known, verdict);
  }
  FindingPage page = select_findings(database, {.id = std::string(id), .limit = 1000});
  return page.findings.back();
}

std::uint64_t delete_some_ended(Database& database, Timestamp before) {
  constexpr int kAtOnce = 500;
  database.run(
      "DELETE FROM findings WHERE number IN "
      "(SELECT number FROM findings WHERE resolved < ? AND job NOT IN (SELECT job FROM sources) "
      // A client that polls goes on after the last change it saw: that number must not come again.
      "AND change < (SELECT max(change) FROM findings) LIMIT ?)",
      before, kAtOnce);
  return static_cast<std::uint64_t>(database.number("SELECT changes()"));
}

FindingPage select_findings(Database& database, const FindingFilter& filter) {
  std::optional<int> severity;
  if (filter.severity) severity = static_cast<int>(*filter.severity);
  std::optional<bool> open;
  if (filter.state) open = *filter.state == FindingState::open;
  // One query for every filter: a parameter that is null filters nothing. Findings are few; only
  // those that pass the cheap conditions have their JSON searched.
  static const std::string kWhere =
      "AND (?2 IS NULL OR job = ?2) AND (?3 IS NULL OR id = ?3) AND (?4 IS NULL OR cause = ?4) "
      "AND (?5 IS NULL OR severity = ?5) AND (?6 IS NULL OR (resolved IS NULL) = ?6) "
      "AND (?7 IS NULL OR changed >= ?7) "
      "AND (?8 IS NULL OR ?8 IN (SELECT value FROM json_each(body, '$.subject.hosts'))) "
      "AND (?9 IS NULL OR ?9 IN (SELECT value FROM json_each(body, '$.subject.ranks'))) ";
  static const std::string kSelect = "SELECT " + std::string(kStoredColumns) + "FROM findings ";
  static const std::string kByNumber =
      kSelect + "WHERE number > ?1 " + kWhere + "ORDER BY number LIMIT ?10";
  // The unary plus keeps SQLite from walking through the findings of all jobs by number.
  static const std::string kOfOneJob =
      kSelect + "WHERE job = ?2 AND +number > ?1 " + kWhere + "ORDER BY +number LIMIT ?10";
  static const std::string kOfOneId =
      kSelect + "WHERE id = ?3 AND +number > ?1 " + kWhere + "ORDER BY +number LIMIT ?10";
  static const std::string kByChange =
      kSelect + "WHERE change > ?1 " + kWhere + "ORDER BY change LIMIT ?10";
  const std::string& select = filter.by_change      ? kByChange
                              : !filter.id.empty()  ? kOfOneId
                              : !filter.job.empty() ? kOfOneJob
                                                    : kByNumber;
  Query row = database.query(select, filter.after, unless_empty<std::string_view>(filter.job),
                             unless_empty<std::string_view>(filter.id),
                             unless_empty<std::string_view>(filter.cause), severity, open,
                             filter.since, unless_empty<std::string_view>(filter.host), filter.rank,
                             filter.limit + 1);  // one more than asked for: is there a next page?
  FindingPage page;
  std::uint64_t last = filter.after;
  while (row.next()) {
    if (page.findings.size() == filter.limit) {
      page.next = last;
      break;
    }
    page.findings.push_back(stored_finding(database, row));
    last = filter.by_change ? page.findings.back().change : row.bits(0);
  }
  return page;
}

std::uint64_t select_last_change(Database& database) {
  return static_cast<std::uint64_t>(
      database.number("SELECT coalesce(max(change), 0) FROM findings"));
}

std::vector<FindingTally> select_finding_tallies(Database& database) {
  std::vector<FindingTally> tallies;
  Query row = database.query(
      "SELECT cause, severity, sum(resolved IS NULL), sum(openings), sum(resolved IS NOT NULL), "
      "max(changed) FROM findings GROUP BY cause, severity");
  while (row.next())
    tallies.push_back({.cause = std::string(row.text(0)),
                       .severity = static_cast<Severity>(row.integer(1)),
                       .open = row.bits(2),
                       .opened = row.bits(3),
                       .resolved = row.bits(4),
                       .last_changed = row.time(5)});
  return tallies;
}

std::vector<PastReview> select_reviews(Database& database, std::string_view id) {
  std::vector<PastReview> reviews;
  Query row = database.query(
      "SELECT verdict, who, note, time FROM reviews WHERE finding IN (SELECT number FROM findings "
      "WHERE id = ?) ORDER BY reviews.id",
      id);
  while (row.next())
    reviews.push_back({.verdict = std::string(row.text(0)),
                       .who = std::string(row.text(1)),
                       .note = std::string(row.text(2)),
                       .time = row.time(3)});
  return reviews;
}

std::vector<ReviewTally> select_review_tallies(Database& database) {
  std::vector<ReviewTally> tallies;
  Query row = database.query(
      "SELECT cause, verdict, count(*) FROM reviews JOIN findings ON number = finding GROUP BY "
      "cause, verdict");
  while (row.next())
    tallies.push_back({.cause = std::string(row.text(0)),
                       .verdict = std::string(row.text(1)),
                       .count = row.bits(2)});
  return tallies;
}

}  // namespace faultline
