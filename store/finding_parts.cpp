#include "store/finding_parts.h"

#include <boost/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "model/json.h"
#include "store/findings.h"

namespace faultline {
namespace {

// A finding about more parts than this says little about any one of them.
constexpr std::size_t kMostParts = 256;

// Host and GPU; no GPU: the host.
using Part = std::pair<std::string, std::string>;

std::set<Part> parts_of(const Finding& finding) {
  std::set<Part> parts;
  if (!is(finding.cause, Trait::of_a_machine)) return parts;
  const auto add = [&](std::string_view host, std::string_view gpu) {
    if (!host.empty() && host != "unknown-host" && parts.size() < kMostParts)
      parts.emplace(host, gpu);
  };
  for (const std::string_view gpu : finding.subject.gpus) {
    const std::size_t slash = gpu.find('/');
    if (slash == std::string_view::npos) continue;
    add(gpu.substr(0, slash), "");
    add(gpu.substr(0, slash), gpu.substr(slash + 1));
  }
  for (const std::string& host : finding.subject.hosts) add(host, "");
  return parts;
}

std::string as_json(const std::vector<std::string>& hosts) {
  return compact(boost::json::value_from(hosts));
}

// From columns job, attempt, opened, resolved, body.
StoredFinding stored_finding(const Database& database, const Query& row, int column) {
  return {.finding = finding_of(database, row.text(column + 4)),
          .job = std::string(row.text(column)),
          .attempt = static_cast<int>(row.integer(column + 1)),
          .opened = row.time(column + 2),
          .resolved = row.maybe_time(column + 3)};
}

}  // namespace

void insert_parts(Database& database, std::int64_t number, const Finding& finding) {
  for (const auto& [host, gpu] : parts_of(finding))
    database.run("INSERT INTO finding_parts (host, gpu, finding) VALUES (?, ?, ?)", host, gpu,
                 number);
}

void delete_parts(Database& database, std::int64_t number) {
  database.run("DELETE FROM finding_parts WHERE finding = ?", number);
}

std::vector<std::string> select_hosts_with_findings(Database& database) {
  std::vector<std::string> hosts;
  Query row = database.query("SELECT DISTINCT host FROM finding_parts ORDER BY host");
  while (row.next()) hosts.emplace_back(row.text(0));
  return hosts;
}

std::vector<HostFinding> select_findings_of_host(Database& database, std::string_view host,
                                                 std::size_t limit) {
  std::vector<HostFinding> found;
  Query row = database.query(
      "SELECT blamed, job, attempt, opened, resolved, body FROM finding_parts "
      "JOIN findings ON number = finding WHERE host = ? AND gpu = '' ORDER BY number DESC LIMIT ?",
      host, limit);
  while (row.next())
    found.push_back({.stored = stored_finding(database, row, 1), .blamed = row.integer(0) != 0});
  return found;
}

std::map<std::string, HostTally> select_tallies(Database& database,
                                                const std::vector<std::string>& hosts) {
  std::map<std::string, HostTally> tallies;
  const std::string wanted = as_json(hosts);
  Query row = database.query(
      "SELECT host, severity, count(*), sum(resolved IS NULL) FROM json_each(?) "
      "JOIN finding_parts ON host = value AND gpu = '' JOIN findings ON number = finding "
      "GROUP BY host, severity",
      wanted);
  while (row.next()) {
    HostTally& tally = tallies[std::string(row.text(0))];
    const auto severity = static_cast<std::size_t>(row.integer(1));
    if (severity >= tally.total.size()) continue;
    tally.total[severity] = row.bits(2);
    tally.open[severity] = row.bits(3);
  }
  return tallies;
}

std::vector<Offence> select_gpu_offences(Database& database,
                                         const std::vector<std::string>& hosts) {
  std::vector<Offence> offences;
  const std::string wanted = as_json(hosts);
  Query row = database.query(
      "SELECT host, gpu, job, attempt, opened, resolved, body FROM json_each(?) "
      "JOIN finding_parts ON host = value AND gpu > '' JOIN findings ON number = finding "
      "WHERE blamed = 1 ORDER BY number",
      wanted);
  while (row.next()) {
    Offence offence{.host = std::string(row.text(0)),
                    .part = std::string(row.text(1)),
                    .stored = stored_finding(database, row, 2)};
    if (offence.stored.finding.subject.gpus.size() == 1) offences.push_back(std::move(offence));
  }
  return offences;
}

std::vector<Offence> select_other_offences(Database& database,
                                           const std::vector<std::string>& hosts) {
  // A link has two ends. If a finding names more ports, it does not show which of them is to blame.
  constexpr std::size_t kMostEnds = 2;
  std::vector<Offence> offences;
  const std::string wanted = as_json(hosts);
  Query row = database.query(
      "SELECT host, job, attempt, opened, resolved, body FROM json_each(?) "
      "JOIN finding_parts ON host = value AND gpu = '' JOIN findings ON number = finding "
      "WHERE blamed = 1 ORDER BY number",
      wanted);
  while (row.next()) {
    const std::string host(row.text(0));
    const StoredFinding stored = stored_finding(database, row, 1);
    const Subject& subject = stored.finding.subject;
    if (!subject.gpus.empty() || subject.nics.size() > kMostEnds) continue;
    if (subject.nics.empty() && subject.hosts.size() == 1)
      offences.push_back({.host = host, .part = {}, .stored = stored});
    for (const std::string& nic : subject.nics)
      if (nic.starts_with(host + '/'))
        offences.push_back({.host = host, .part = nic.substr(host.size() + 1), .stored = stored});
  }
  return offences;
}

}  // namespace faultline
