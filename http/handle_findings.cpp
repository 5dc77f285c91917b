// GET /api/v1/jobs/{job}/findings, /api/v1/findings, /api/v1/findings/{id}; POST …/{id}/review
#include <fmt/format.h>
#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include "http/enumerator.h"
#include "http/finding_json.h"
#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "model/json.h"
#include "rules/knowledge/without_secrets.h"

namespace faultline {
namespace json = boost::json;
namespace {

// Where a list in the order of changes goes on: the resume of an answer, or a time.
Result<void> read_since(const Request& request, FindingFilter& filter) {
  const auto since = request.query.text("since");
  if (!since) return {};
  if (const auto time = request.query.time("since")) {
    filter.since = *time;
    return {};
  }
  const Result<std::string> resume = last_seen_of(*since);
  const PageRequest place{.after = resume ? *resume : std::string("?")};
  const auto after = place.after_number();
  if (!after)
    return Error{Error::Kind::invalid_input,
                 "since must be a time such as 2026-03-05T02:47:11Z, or the resume of an answer"};
  if (filter.after == 0) filter.after = *after;  // otherwise the cursor is further on
  return {};
}

Result<FindingFilter> filter_of(const Request& request, bool by_change) {
  FindingFilter filter;
  filter.by_change = by_change;
  filter.job = by_change ? request.query.text("job").value_or("") : request.path_value("job");
  filter.cause = request.query.text("class").value_or("");
  filter.host = request.query.text("host").value_or("");
  const auto severity = enumerator<Severity>(request.query, "severity");
  if (!severity) return severity.error();
  filter.severity = *severity;
  const auto state = enumerator<FindingState>(request.query, "state");
  if (!state) return state.error();
  filter.state = *state;
  const auto rank = request.query.number("rank", 0, INT32_MAX);
  if (!rank) return rank.error();
  if (*rank) filter.rank = static_cast<int>(**rank);
  const Result<PageRequest> page = page_request(request.query, 100);
  if (!page) return page.error();
  filter.limit = page->limit;
  const Result<std::uint64_t> after = page->after_number();
  if (!after) return after.error();
  filter.after = *after;
  if (by_change) {
    if (const Result<void> read = read_since(request, filter); !read) return read.error();
    return filter;
  }
  const auto since = request.query.time("since");
  if (!since) return since.error();
  filter.since = *since;
  return filter;
}

// A page of all jobs' findings, and the last change that it goes up to.
struct ChangesPage {
  FindingPage page;
  std::uint64_t last = 0;
};

// A token for some jobs sees only their findings. The store knows no tokens, so this reads all
// findings and leaves out those of other jobs. If there are many of these, the page ends early,
// with a cursor.
ChangesPage changes_it_may_see(const Request& request, Store& store, FindingFilter filter) {
  constexpr std::size_t kAtOnce = 1000;
  constexpr int kMostLooks = 10;
  const std::size_t wanted = filter.limit;
  if (!request.jobs.empty()) filter.limit = kAtOnce;
  ChangesPage own{.last = filter.after};
  for (int looks = 0; looks < kMostLooks; ++looks) {
    FindingPage all = store.findings(filter);
    own.page.next = all.next;
    for (StoredFinding& stored : all.findings) {
      if (own.page.findings.size() == wanted) {
        own.page.next = own.last;
        return own;
      }
      own.last = stored.change;
      if (request.may_be_told_of(stored.job)) own.page.findings.push_back(std::move(stored));
    }
    if (!all.next || own.page.findings.size() == wanted) break;
    filter.after = *all.next;
  }
  return own;
}

// All stored findings with this id, the latest last; empty if one of them is of a job that the
// token is not for.
std::vector<StoredFinding> finding_it_may_see(const Request& request, Store& store,
                                              const std::string& id) {
  std::vector<StoredFinding> all = store.findings({.id = id, .limit = 1000}).findings;
  const bool may_see_all = std::ranges::all_of(
      all, [&](const StoredFinding& stored) { return request.may_be_told_of(stored.job); });
  if (!may_see_all) all.clear();
  return all;
}

Response no_such_finding(std::string_view id) {
  return problem_response(
      Error{Error::Kind::not_found,
            fmt::format(
                "no finding has the id \"{}\"; /api/v1/jobs/{{job}}/findings lists those of a job",
                printable_name(id))});
}

}  // namespace

json::value finding_json(const StoredFinding& stored) {
  json::value value = to_json(stored.finding);
  json::object& object = value.as_object();
  object["job"] = stored.job;
  object["attempt"] = stored.attempt;
  object["opened"] = to_rfc3339(stored.opened);
  object["resolved"] = nullptr;
  if (stored.resolved) object["resolved"] = to_rfc3339(*stored.resolved);
  object["reason"] = nullptr;
  if (!stored.reason.empty()) object["reason"] = stored.reason;
  object["role"] = boost::describe::enum_to_string(stored.role, "");
  object["incident"] = nullptr;
  if (!stored.incident.empty()) object["incident"] = stored.incident;
  object["review"] = nullptr;
  if (!stored.review.empty()) object["review"] = stored.review;
  return value;
}

Response list_findings(const Request& request, Services& services) {
  const Result<FindingFilter> filter = filter_of(request, false);
  if (!filter) return problem_response(filter.error());
  if (!services.jobs.diagnosis(filter->job)) return no_such_job(filter->job);
  services.jobs.reconcile(filter->job);  // time alone may have changed them since the last line
  const FindingPage page = services.store.findings(*filter);
  json::array rows;
  for (const StoredFinding& stored : page.findings) rows.push_back(finding_json(stored));
  return page_of("findings", std::move(rows), page.next ? std::to_string(*page.next) : "");
}

Response list_all_findings(const Request& request, Services& services) {
  const Result<FindingFilter> filter = filter_of(request, true);
  if (!filter) return problem_response(filter.error());
  const auto [page, last] = changes_it_may_see(request, services.store, *filter);
  json::array rows;
  for (const StoredFinding& stored : page.findings) rows.push_back(finding_json(stored));
  // `resume` says where to go on later: at its end, a list that grows has no next page yet.
  json::object answer{{"findings", std::move(rows)},
                      {"next_cursor", nullptr},
                      {"resume", cursor_for(std::to_string(last))}};
  if (page.next) answer["next_cursor"] = cursor_for(std::to_string(*page.next));
  return Response::json(answer);
}

Response review_finding(const Request& request, Services& services) {
  const Result<QueryString> said = request.query.with_json(request.body, {"verdict", "by", "note"});
  if (!said) return problem_response(said.error());
  const auto verdict = enumerator<ReviewVerdict>(*said, "verdict");
  if (!verdict) return problem_response(verdict.error());
  if (!*verdict)
    return problem_response(
        Error{Error::Kind::invalid_input,
              "verdict is missing; give acknowledged, wrong, closed or reopened"});
  constexpr std::size_t kMostNote = 4096;
  const std::string by = said->text("by").value_or("");
  const std::shared_ptr<const Secrets> secrets = services.jobs.catalog().get()->secrets;
  Review review{.verdict = **verdict,
                .who = without_secrets(*secrets, printable_name(by.empty() ? request.by : by)),
                .note = without_secrets(*secrets, said->text("note").value_or(""))};
  if (review.note.size() > kMostNote || review.who.size() > kMostNote)
    return problem_response(Error{Error::Kind::too_large, "by and note hold at most 4096 bytes"});
  const std::string& id = request.path_value("id");
  if (finding_it_may_see(request, services.store, id).empty()) return no_such_finding(id);
  const auto stored = services.store.review_finding(id, review, utc_now());
  if (!stored) return no_such_finding(id);
  services.jobs.reconcile_anew(stored->job);
  FindingFilter filter{.job = stored->job, .id = id, .limit = 1000};
  Response response = Response::json(finding_json(services.store.findings(filter).findings.back()));
  response.did = boost::describe::enum_to_string(review.verdict, "");
  return response;
}

Response show_finding(const Request& request, Services& services) {
  const std::string& id = request.path_value("id");
  const std::vector<StoredFinding> all = finding_it_may_see(request, services.store, id);
  if (all.empty()) return no_such_finding(id);
  json::value finding = finding_json(all.back());
  json::array reviews;
  for (const PastReview& review : services.store.reviews_of(id))
    reviews.push_back(json::object{{"verdict", review.verdict},
                                   {"by", review.who},
                                   {"note", review.note},
                                   {"time", to_rfc3339(review.time)}});
  finding.as_object()["reviews"] = std::move(reviews);
  return Response::json(finding);
}

}  // namespace faultline
