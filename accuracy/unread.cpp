#include "accuracy/unread.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "app/asked_by_signatures.h"
#include "ingest/reader.h"
#include "rules/knowledge/catalog.h"

namespace faultline::accuracy {
namespace {

constexpr std::size_t kMostShown = 10;
constexpr std::size_t kMostFormBytes = 140;

// What makes a person stop at a line.
bool is_worth_a_look(std::string_view line) {
  static const RE2 kWords(
      R"((?i)\b(?:\w*error\w*|fail(?:ed|ure|s|ing)?|time-?outs?|timed out|abort\w*|killed|fatal|panic|\w*exception|warn(?:ing)?|refused|unreachable|reset|hangs?|hung|stuck|oom|out of memory|nan|lost|unable|cannot|denied|corrupt\w*|mismatch\w*|xid|link (?:is )?down)\b)");
  return RE2::PartialMatch(line, kWords);
}

// Lines that differ by numbers only are of one form.
std::string form_of(std::string_view line) {
  static const RE2 kNumbers(R"(0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}|\d+)");
  std::string form(line.substr(0, 4 * kMostFormBytes));
  RE2::GlobalReplace(&form, kNumbers, "#");
  if (form.size() > kMostFormBytes) form.resize(kMostFormBytes);
  return form;
}

struct Tally {
  std::uint64_t relevant = 0;
  std::uint64_t unread = 0;
  std::map<std::string, std::uint64_t> lines;          // by form
  std::map<std::string, std::set<std::string>> files;  // by form
};

class FileOfLines {
 public:
  FileOfLines(std::string name, std::shared_ptr<const Noteworthy> asked, Tally& tally)
      : name_(std::move(name)),
        tally_(tally),
        reader_({}, std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()),
                std::move(asked)) {}

  void read(std::string_view line) {
    reader_.feed(std::string(line) + "\n");
    reader_.finish();
    pending_.push_back(line);
    take();
  }

  void end() {
    reader_.close();
    take();
    for (const std::string_view line : pending_) note(line);
  }

 private:
  // A document's lines may be known only at its end.
  void take() {
    const std::uint64_t known = reader_.take().recognized;
    const auto those = std::min<std::uint64_t>(known, pending_.size());
    for (std::uint64_t i = 0; i < those; ++i) {
      tally_.relevant += is_worth_a_look(pending_.back()) ? 1 : 0;
      pending_.pop_back();
    }
    constexpr std::size_t kMostPending = 4096;
    if (pending_.size() <= kMostPending) return;
    note(pending_.front());
    pending_.erase(pending_.begin());
  }

  void note(std::string_view line) {
    if (!is_worth_a_look(line)) return;
    ++tally_.relevant;
    ++tally_.unread;
    const std::string form = form_of(line);
    ++tally_.lines[form];
    tally_.files[form].insert(name_);
  }

  std::string name_;
  Tally& tally_;
  Reader reader_;
  std::vector<std::string_view> pending_;
};

void read_file(const std::filesystem::path& file, const std::shared_ptr<const Noteworthy>& asked,
               Tally& tally) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.find('\0') != std::string::npos) return;  // a dump
  FileOfLines lines(file.filename().string(), asked, tally);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.read(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  lines.end();
}

}  // namespace

std::string unread_report(const std::filesystem::path& folder) {
  const auto asked = std::make_shared<AskedBySignatures>(load_catalog().signatures);
  Tally tally;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "index.json")
      read_file(entry.path(), asked, tally);
  std::vector<std::pair<std::string, std::uint64_t>> forms(tally.lines.begin(), tally.lines.end());
  const auto files_of = [&](const std::string& form) { return tally.files.at(form).size(); };
  // A form that many files have matters more than one that fills a file.
  std::ranges::stable_sort(forms, [&](const auto& a, const auto& b) {
    return std::pair(files_of(a.first), a.second) > std::pair(files_of(b.first), b.second);
  });
  std::string report = fmt::format(
      "{}: {} lines are worth a look; nobody reads {} of them ({:.1f} %), of {} forms\n",
      folder.string(), tally.relevant, tally.unread,
      tally.relevant == 0
          ? 0.0
          : 100 * static_cast<double>(tally.unread) / static_cast<double>(tally.relevant),
      forms.size());
  for (std::size_t i = 0; i < std::min(forms.size(), kMostShown); ++i)
    report += fmt::format("{:>5} in {} files  {}\n", forms[i].second, files_of(forms[i].first),
                          forms[i].first);
  return report;
}

}  // namespace faultline::accuracy
