#include "store/outbox.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "store/findings.h"

namespace faultline {
namespace {

// A message with more alerts helps nobody; the rest follows in the next one.
constexpr int kMostRows = 1000;

struct Told {
  std::int64_t id = 0;
  bool firing = false;
  int severity = 0;
  int role = 0;
  std::string incident;
  std::string group;
  bool attempted = false;
  bool delivered = false;

  bool is_known_by(const AlertSubject& subject) const {
    return severity == static_cast<int>(subject.finding.severity) &&
           role == static_cast<int>(subject.role) && incident == subject.incident;
  }
  // The receiver cannot have heard of it.
  bool is_untold() const { return !delivered && !attempted; }
};

// The latest row of each receiver.
std::map<std::string, Told, std::less<>> last_told(Database& database, std::int64_t number) {
  std::map<std::string, Told, std::less<>> last;
  Query row = database.query(
      "SELECT receiver, id, firing, severity, role, incident, told_with, attempted, "
      "delivered IS NOT NULL FROM outbox WHERE finding = ? ORDER BY id",
      number);
  while (row.next())
    last[std::string(row.text(0))] = {.id = row.integer(1),
                                      .firing = row.integer(2) != 0,
                                      .severity = static_cast<int>(row.integer(3)),
                                      .role = static_cast<int>(row.integer(4)),
                                      .incident = std::string(row.text(5)),
                                      .group = std::string(row.text(6)),
                                      .attempted = row.integer(7) != 0,
                                      .delivered = row.integer(8) != 0};
  return last;
}

void insert_firing(Database& database, std::int64_t number, const AlertSubject& subject,
                   const Delivery& delivery, Timestamp due) {
  database.run(
      "INSERT INTO outbox (receiver, finding, firing, told_with, severity, role, incident, since, "
      "due) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)",
      delivery.receiver, number, delivery.group, static_cast<int>(subject.finding.severity),
      static_cast<int>(subject.role), subject.incident, subject.now, due);
}

void insert_resolved(Database& database, std::int64_t fired, Timestamp now, Timestamp due) {
  database.run(
      "INSERT INTO outbox (receiver, finding, firing, told_with, severity, role, incident, since, "
      "due) SELECT receiver, finding, 0, told_with, severity, role, incident, ?, ? FROM outbox "
      "WHERE id = ?",
      now, due, fired);
}

void remove(Database& database, std::int64_t row) {
  database.run("DELETE FROM outbox WHERE id = ?", row);
}

void fire(Database& database, std::int64_t number, const AlertSubject& subject,
          const Delivery& delivery, const Told* last) {
  if (last == nullptr || (!last->firing && last->delivered)) {
    insert_firing(database, number, subject, delivery, delivery.due);
  } else if (last->is_known_by(subject)) {
    // The finding came back before its end was sent, so the end is dropped.
    if (!last->firing && last->is_untold()) remove(database, last->id);
    if (!last->firing && !last->is_untold())
      insert_firing(database, number, subject, delivery, delivery.due);
  } else if (last->firing && last->is_untold()) {
    database.run(
        "UPDATE outbox SET severity = ?, role = ?, incident = ?, told_with = ? WHERE id = ?",
        static_cast<int>(subject.finding.severity), static_cast<int>(subject.role),
        subject.incident, delivery.group, last->id);
  } else {
    // The receiver knows the finding by other labels: that alert ends, and a new one begins. It is
    // due at once, because the finding itself has stood long enough.
    if (last->firing) insert_resolved(database, last->id, subject.now, subject.now);
    if (!last->firing)
      database.run("UPDATE outbox SET due = ? WHERE id = ?", subject.now, last->id);
    insert_firing(database, number, subject, delivery, subject.now);
  }
}

// The columns that outbox_row() reads.
constexpr std::string_view kColumns =
    "o.id, o.firing, o.severity, o.role, o.incident, o.since, o.delivered IS NULL, "
    "coalesce((SELECT max(b.since) FROM outbox b WHERE b.finding = o.finding AND b.receiver = "
    "o.receiver AND b.firing = 1 AND b.severity = o.severity AND b.role = o.role AND b.incident = "
    "o.incident AND b.id <= o.id), o.since), "
    "f.job, f.attempt, f.opened, f.resolved, f.role, f.incident, f.reason, f.review, f.change, "
    "f.body ";

OutboxRow outbox_row(const Database& database, const Query& row) {
  return {.id = row.integer(0),
          .finding = {.finding = finding_of(database, row.text(17)),
                      .job = std::string(row.text(8)),
                      .attempt = static_cast<int>(row.integer(9)),
                      .opened = row.time(10),
                      .resolved = row.maybe_time(11),
                      .role = static_cast<Role>(row.integer(12)),
                      .incident = std::string(row.text(13)),
                      .reason = std::string(row.text(14)),
                      .review = std::string(row.text(15)),
                      .change = row.bits(16)},
          .firing = row.integer(1) != 0,
          .severity = static_cast<Severity>(row.integer(2)),
          .role = static_cast<Role>(row.integer(3)),
          .incident = std::string(row.text(4)),
          .since = row.time(5),
          .began = row.time(7),
          .waits = row.integer(6) != 0};
}

}  // namespace

void route_finding(Database& database, std::int64_t number, const AlertSubject& subject, bool fires,
                   bool certain, const AlertRouting& routing) {
  if (!routing.route) return;
  auto last = last_told(database, number);
  std::vector<Delivery> wanted;
  if (fires && subject.role != Role::observation) {
    AlertSubject asked = subject;
    asked.told = std::ranges::any_of(last, [](const auto& row) { return row.second.firing; });
    wanted = routing.route(asked);
  }
  for (const Delivery& delivery : wanted) {
    const auto known = last.find(delivery.receiver);
    fire(database, number, subject, delivery, known == last.end() ? nullptr : &known->second);
    if (known != last.end()) last.erase(known);
  }
  for (const auto& [receiver, told] : last) {
    if (!told.firing) {
      if (certain && !told.delivered)
        database.run("UPDATE outbox SET due = min(due, ?) WHERE id = ?", subject.now, told.id);
    } else if (told.is_untold()) {
      remove(database, told.id);
    } else {
      insert_resolved(database, told.id, subject.now,
                      certain ? subject.now : subject.now + routing.keep);
    }
  }
}

std::vector<WaitingGroup> select_waiting_groups(Database& database, std::string_view receiver) {
  std::vector<WaitingGroup> groups;
  Query row = database.query(
      "SELECT told_with, min(due), count(*), (SELECT max(delivered) FROM outbox d WHERE d.receiver "
      "= o.receiver AND d.told_with = o.told_with) FROM outbox o WHERE receiver = ? AND delivered "
      "IS NULL GROUP BY told_with ORDER BY min(id)",
      receiver);
  while (row.next())
    groups.push_back({.group = std::string(row.text(0)),
                      .first_due = row.time(1),
                      .last_delivered = row.maybe_time(3),
                      .rows = row.bits(2)});
  return groups;
}

std::vector<OutboxRow> begin_delivery(Database& database, std::string_view receiver,
                                      std::string_view group, Timestamp now) {
  static const std::string kSelect =
      "SELECT " + std::string(kColumns) +
      "FROM outbox o JOIN findings f ON f.number = o.finding WHERE o.receiver = ? AND o.told_with "
      "= ? AND (o.delivered IS NOT NULL OR o.due <= ?) ORDER BY o.id";
  // By the finding and the labels by which the receiver knows it.
  std::map<std::tuple<std::uint64_t, Severity, Role, std::string>, OutboxRow> alerts;
  {
    Query row = database.query(kSelect, receiver, group, now);
    while (row.next()) {
      OutboxRow next = outbox_row(database, row);
      auto key = std::make_tuple(next.finding.change, next.severity, next.role, next.incident);
      OutboxRow& known = alerts[std::move(key)];
      if (known.id == 0 || !known.waits) known = std::move(next);
    }
  }
  std::vector<OutboxRow> rows;
  for (auto& [key, alert] : alerts)
    if (alert.waits || alert.firing) rows.push_back(std::move(alert));
  std::ranges::sort(rows, {}, [](const OutboxRow& r) { return std::pair(!r.waits, r.id); });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  for (const OutboxRow& told : rows)
    if (told.waits) database.run("UPDATE outbox SET attempted = 1 WHERE id = ?", told.id);
  return rows;
}

std::vector<OutboxRow> select_standing_rows(Database& database, std::string_view receiver,
                                            Timestamp resolved_since) {
  static const std::string kSelect =
      "SELECT " + std::string(kColumns) +
      "FROM outbox o JOIN findings f ON f.number = o.finding WHERE o.receiver = ? AND o.delivered "
      "IS NOT NULL AND o.refused = 0 AND (o.firing = 1 OR o.since >= ?) AND NOT EXISTS (SELECT 1 "
      "FROM outbox later WHERE later.finding = o.finding AND later.receiver = o.receiver AND "
      "later.severity = o.severity AND later.role = o.role AND later.incident = o.incident AND "
      "later.id > o.id AND later.delivered IS NOT NULL) ORDER BY o.id";
  std::vector<OutboxRow> rows;
  Query row = database.query(kSelect, receiver, resolved_since);
  while (row.next()) rows.push_back(outbox_row(database, row));
  return rows;
}

void end_delivery(Database& database, const std::vector<std::int64_t>& rows,
                  DeliveryOutcome outcome, Timestamp now) {
  for (const std::int64_t id : rows) {
    if (outcome == DeliveryOutcome::accepted || outcome == DeliveryOutcome::refused)
      database.run("UPDATE outbox SET delivered = ?, refused = ? WHERE id = ?", now,
                   outcome == DeliveryOutcome::refused, id);
    else if (outcome == DeliveryOutcome::unsent)
      database.run("UPDATE outbox SET attempted = 0 WHERE id = ?", id);
  }
}

}  // namespace faultline
