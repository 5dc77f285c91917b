// GET /api/v1/jobs, /api/v1/jobs/{job}, /api/v1/jobs/{job}/ranks, /api/v1/sources
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/json.hpp>

#include <algorithm>
#include <array>

#include "http/attempt.h"
#include "http/enumerator.h"
#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "model/json.h"
#include "rules/answer/shown_text.h"
#include "rules/knowledge/limits.h"
#include "rules/story/verdict.h"

namespace faultline {
namespace json = boost::json;
namespace {

json::object json_of(const StoredSource& stored, const std::string* refused) {
  json::object object{{"source", stored.source.name},
                      {"host", stored.source.host},
                      {"rank", nullptr},
                      {"next_offset", stored.position.offset},
                      {"lines", stored.position.lines},
                      {"recognized", stored.recognized},
                      {"events", stored.facts},
                      {"complete", stored.complete},
                      {"refused", json::array()},
                      {"last_received", to_rfc3339(stored.last_received)}};
  if (stored.source.rank >= 0) object["rank"] = stored.source.rank;
  if (refused != nullptr) object["refused"] = {*refused};
  return object;
}

// How many verdicts are worse.
std::size_t place_from_worst(Verdict verdict) {
  std::size_t worse_ones = 0;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Verdict>>([&](auto other) {
    if (other.value != verdict && worse(other.value, verdict) == other.value) ++worse_ones;
  });
  return worse_ones;
}

// Which jobs are asked for, and in which order.
struct JobFilter {
  std::vector<Verdict> verdicts;  // empty: any
  std::optional<Timestamp> since;
  std::string sort;  // activity, severity; empty: by name
  bool as_text = false;
  std::string beginning;  // of their names

  bool takes(const JobOverview& job) const {
    if (!verdicts.empty() && std::ranges::find(verdicts, job.verdict) == verdicts.end())
      return false;
    return !since || (job.last_activity && *job.last_activity >= *since);
  }

  // Grows along the list; the cursor is the key of the last job.
  std::string key_of(const JobOverview& job) const {
    constexpr std::int64_t kLatest = 9'000'000'000'000'000;
    const std::int64_t latest =
        job.last_activity ? job.last_activity->time_since_epoch().count() : std::int64_t{0};
    if (sort.empty()) return job.job;
    const std::size_t place = sort == "severity" ? place_from_worst(job.verdict) : 0;
    return fmt::format("{}/{}/{:016}/{}", sort, place, kLatest - latest, job.job);
  }
};

Result<std::string> one_of(const QueryString& query, std::string_view name,
                           const std::vector<std::string_view>& known) {
  std::string value = query.text(name).value_or("");
  if (!query.has(name) || std::ranges::find(known, value) != known.end()) return value;
  return Error{Error::Kind::invalid_input,
               fmt::format("{} must be {}, not \"{}\"", name, fmt::join(known, " or "),
                           printable_name(value))};
}

Result<JobFilter> job_filter(const QueryString& query) {
  JobFilter filter;
  const auto verdicts = enumerators<Verdict>(query, "verdict");
  if (!verdicts) return verdicts.error();
  filter.verdicts = *verdicts;
  const auto since = query.time_or_age("since", utc_now());
  if (!since) return since.error();
  filter.since = *since;
  Result<std::string> sort = one_of(query, "sort", {"activity", "severity"});
  if (!sort) return sort.error();
  filter.sort = std::move(*sort);
  const Result<std::string> format = one_of(query, "format", {"json", "text"});
  if (!format) return format.error();
  filter.as_text = *format == "text";
  return filter;
}

// The jobs after the cursor, in order, up to one more than a page holds.
std::vector<std::pair<std::string, JobOverview>> jobs_after(const PageRequest& page,
                                                            const JobFilter& filter,
                                                            Services& services) {
  std::vector<std::pair<std::string, JobOverview>> found;
  for (const std::string& name : services.jobs.names()) {
    // In a list by name, no other job need be looked at.
    if (filter.sort.empty() && (found.size() > page.limit || name <= page.after)) continue;
    if (!name.starts_with(filter.beginning)) continue;
    auto overview = services.jobs.overview(name);
    if (!overview || !filter.takes(*overview)) continue;
    std::string key = filter.key_of(*overview);
    if (page.after.empty() || key > page.after)
      found.emplace_back(std::move(key), std::move(*overview));
  }
  std::ranges::sort(found, {}, [](const auto& entry) { return entry.first; });
  if (found.size() > page.limit + 1) found.resize(page.limit + 1);
  return found;
}

// For a terminal: a line for each job.
std::string table_of(const json::array& jobs, std::string_view next_cursor) {
  std::vector<std::array<std::string, 5>> rows{
      {"VERDICT", "JOB", "RANKS", "LAST ACTIVITY", "CAUSE"}};
  for (const json::value& job : jobs) {
    const auto text = [&](const char* name) {
      return job.at(name).is_string() ? shown(job.at(name).as_string(), 400) : std::string("-");
    };
    const json::value& ranks = job.at("ranks");
    const bool is_sure = job.at("confidence").is_double() &&
                         job.at("confidence").as_double() >= limits::least_to_blame;
    const std::string cause = text("cause");
    rows.push_back(
        {text("verdict"), text("job"),
         fmt::format("{}/{}", ranks.at("seen").as_int64(), ranks.at("expected").as_int64()),
         text("last_activity"), cause.empty() || is_sure ? cause : "possible: " + cause});
  }
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  if (!next_cursor.empty()) out += fmt::format("more with cursor={}\n", next_cursor);
  return out;
}

}  // namespace

Response list_jobs(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 100);
  if (!page) return problem_response(page.error());
  Result<JobFilter> filter = job_filter(request.query);
  if (!filter) return problem_response(filter.error());
  filter->beginning = request.jobs;
  if (!page->after.empty() && !page->after.starts_with(filter->sort))
    return problem_response(
        Error{Error::Kind::invalid_input,
              "cursor is from a list in another order; pass the next_cursor of this list"});
  const bool takes_all = !filter->sort.empty() || !filter->verdicts.empty() || filter->since;
  if (takes_all)
    if (auto refusal = still_reading(services)) return *std::move(refusal);
  auto found = jobs_after(*page, *filter, services);
  const bool more = found.size() > page->limit;
  if (more) found.pop_back();
  json::array jobs;
  for (const auto& [key, overview] : found) jobs.push_back(to_json(overview));
  const std::string last = more ? found.back().first : std::string();
  if (filter->as_text)
    return Response::text(table_of(jobs, last.empty() ? last : cursor_for(last)));
  return page_of("jobs", std::move(jobs), last);
}

Response show_job(const Request& request, Services& services) {
  auto detail = services.jobs.detail(request.path_value("job"));
  if (!detail) return no_such_job(request.path_value("job"));
  // The state has them in the order in which they came, which means nothing to a reader.
  std::sort(detail->sources.begin(), detail->sources.end(),
            [](const SourceView& a, const SourceView& b) { return a.name < b.name; });
  return Response::json(to_json(*detail));
}

Response delete_job(const Request& request, Services& services) {
  const std::string& job = request.path_value("job");
  if (!services.jobs.forget(job)) return no_such_job(job);
  return {.status = 204};
}

Response list_ranks(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 1000);
  if (!page) return problem_response(page.error());
  const Result<std::uint64_t> after = page->after_number();
  if (!after) return problem_response(after.error());
  const Result<bool> brief = request.query.boolean("brief");
  if (!brief) return problem_response(brief.error());
  const auto rank = request.query.number("rank", 0, INT32_MAX);
  if (!rank) return problem_response(rank.error());
  const auto meant = diagnosis_meant(request, services);
  if (const Response* none = std::get_if<Response>(&meant)) return *none;
  auto ranks = services.jobs.ranks(request.path_value("job"),
                                   *std::get<std::shared_ptr<const Diagnosis>>(meant));
  if (!ranks) return no_such_job(request.path_value("job"));
  if (*rank)
    std::erase_if(*ranks, [&](const RankView& view) {
      return view.rank != static_cast<std::int64_t>(**rank);
    });
  const auto first = std::min<std::uint64_t>(*after, ranks->size());
  const auto last = std::min<std::uint64_t>(first + page->limit, ranks->size());
  json::array rows;
  for (std::uint64_t i = first; i < last; ++i) {
    rows.push_back(to_json((*ranks)[i]));
    if (*brief) rows.back().as_object().erase("standings");
  }
  return page_of("ranks", std::move(rows), last == ranks->size() ? "" : std::to_string(last));
}

Response list_sources(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 1000);
  if (!page) return problem_response(page.error());
  const std::string job = request.query.text("job").value_or(services.default_job);
  if (job.empty())
    return problem_response(Error{Error::Kind::invalid_input, "say which job: ?job=NAME"});
  std::vector<StoredSource> sources = services.store.sources(job);
  if (sources.empty()) return no_such_job(job);
  std::sort(sources.begin(), sources.end(), [](const StoredSource& a, const StoredSource& b) {
    return a.source.name < b.source.name;
  });
  const auto refused = services.jobs.refused(job);
  json::array rows;
  std::string next;
  for (const StoredSource& stored : sources) {
    if (stored.source.name <= page->after && !page->after.empty()) continue;
    if (rows.size() == page->limit) {
      next = std::string(rows.back().at("source").as_string());
      break;
    }
    const auto why = refused.find(stored.source.name);
    rows.push_back(json_of(stored, why == refused.end() ? nullptr : &why->second));
  }
  return page_of("sources", std::move(rows), next);
}

}  // namespace faultline
