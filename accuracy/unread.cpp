#include "accuracy/unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "ingest/reader.h"
#include "model/line_form.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "rules/knowledge/catalog.h"

namespace faultline::accuracy {
namespace {

constexpr std::size_t kMostShown = 10;

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
        asked_(std::move(asked)),
        reader_({}, std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()),
                asked_) {}

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
  // The lines of a document may be recognized only at its end.
  void take() {
    const std::uint64_t known = reader_.take().recognized;
    const auto those = std::min<std::uint64_t>(known, pending_.size());
    for (std::uint64_t i = 0; i < those; ++i) {
      tally_.relevant += is_trouble(pending_.back()) ? 1 : 0;
      pending_.pop_back();
    }
    constexpr std::size_t kMostPending = 4096;
    if (pending_.size() <= kMostPending) return;
    note(pending_.front());
    pending_.erase(pending_.begin());
  }

  bool is_trouble(std::string_view line) const {
    const TroubleKind kind = asked_->trouble_in(line);
    return kind == TroubleKind::ends || kind == TroubleKind::fails;
  }

  void note(std::string_view line) {
    if (!is_trouble(line)) return;
    ++tally_.relevant;
    ++tally_.unread;
    const std::string form = form_of_line(line);
    ++tally_.lines[form];
    tally_.files[form].insert(name_);
  }

  std::string name_;
  Tally& tally_;
  std::shared_ptr<const Noteworthy> asked_;
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
  const auto asked = std::make_shared<AskedByCatalog>(load_catalog());
  Tally tally;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "index.json")
      read_file(entry.path(), asked, tally);
  std::vector<std::pair<std::string, std::uint64_t>> forms(tally.lines.begin(), tally.lines.end());
  const auto files_of = [&](const std::string& form) { return tally.files.at(form).size(); };
  // A form in many files matters more than a form that fills one file.
  std::ranges::stable_sort(forms, [&](const auto& a, const auto& b) {
    return std::pair(files_of(a.first), a.second) > std::pair(files_of(b.first), b.second);
  });
  std::string report = fmt::format(
      "{}: {} lines look like trouble; no rule reads {} of them ({:.1f} %), of {} forms\n",
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
