#include "parsers/scheduler/slurm_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "parsers/scheduler/slurm_words.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Cells = std::vector<std::string_view>;

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

std::size_t column(const Cells& head, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(head, name) - head.begin());
}

bool has(const Cells& head, std::string_view name) { return column(head, name) < head.size(); }

bool is_piped(std::string_view text) { return text.find('|') != text.npos; }

// Whether pipes separate the columns (with or without outer pipes), or commas, as in
// `-o "%N,%t,%E"`.
bool is_separated(std::string_view head) {
  return is_piped(head) || (head.find(',') != head.npos && head.find(' ') == head.npos);
}

// A list of nodes has commas in brackets, which separate no cells: gpu[1-3,7].
Cells between_commas(std::string_view text) {
  Cells cells;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '[') ++depth;
    if (at < text.size() && text[at] == ']') --depth;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    cells.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  return cells;
}

Cells separated(std::string_view head, std::string_view text) {
  if (is_piped(head)) return is_piped(text) ? pieces_of(text, "|") : Cells{};
  return between_commas(text);
}

Cells head_of(std::string_view text) {
  Cells head = is_separated(text) ? separated(text, text) : words_of(text);
  for (const std::string_view name : head)
    if (!name.empty() &&
        (name.find_first_of(kLetters) != 0 ||
         name.find_first_not_of(std::string(kLetters) + "0123456789_():/%") != name.npos))
      return {};
  return head;
}

// ------------ ---------- under the head, or the rule of a Markdown table.
bool is_rule(std::string_view text) {
  return text.find("---") != text.npos && text.find_first_not_of("-| :+") == text.npos;
}

// Cuts a row where the dashes above it end. Empty: a word crosses the end of a column.
Cells cells_below(std::string_view rule, std::string_view row) {
  Cells cells;
  for (std::size_t begin = rule.find('-'); begin != rule.npos;) {
    const std::size_t end = std::min(rule.find(' ', begin), rule.size());
    if (end < row.size() && row[end] != ' ') return {};
    cells.push_back(begin < row.size() ? trimmed(row.substr(begin, end - begin))
                                       : std::string_view());
    begin = rule.find('-', end);
  }
  return cells;
}

// Cuts a row into its words; only the column `wordy` may have several.
Cells cells_by_words(std::string_view row, std::size_t columns, std::size_t wordy) {
  Cells words = words_of(row);
  if (words.size() == columns) return words;
  if (words.size() < columns || wordy >= columns) return {};
  const std::size_t more = words.size() - columns;
  Cells cells(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(wordy));
  const std::string_view first = words[wordy];
  const std::string_view last = words[wordy + more];
  cells.emplace_back(first.data(),
                     static_cast<std::size_t>(last.data() + last.size() - first.data()));
  cells.insert(cells.end(), words.begin() + static_cast<std::ptrdiff_t>(wordy + more + 1),
               words.end());
  return cells;
}

class SlurmTable : public PartDocument {
 public:
  using PartDocument::PartDocument;

 protected:
  virtual bool begins(std::string_view text) const = 0;
  virtual std::string_view wordy_column() const = 0;
  // False: it is not a row of the table. If keep is false, it only checks: a row that may be cut is
  // not kept.
  virtual bool take(const Cells& head, const Cells& row, bool keep) = 0;

 private:
  Line read(std::string_view text) override {
    if (begins(text)) {
      words_.clear();
      word(text);
      return Line::part;
    }
    // The head of another table looks like a row of names.
    // Saved words may be any.
    if (words_.empty() || !begins(words_.front()) || begins_sacct(text) || begins_sinfo(text))
      return Line::after;
    if (is_rule(text)) {
      if (words_.size() == 1 && !is_separated(words_.front())) word(text);
      return Line::part;
    }
    const Cells head = head_of(words_.front());
    Cells row;
    if (is_separated(words_.front())) {
      row = separated(words_.front(), text);
    } else {
      if (words_.size() > 1) row = cells_below(words_[1], text);
      if (row.size() != head.size() || !take(head, row, false))
        row = cells_by_words(text, head.size(), column(head, wordy_column()));
    }
    if (row.size() < head.size() || !take(head, row, false)) return Line::foreign;
    if (!cut()) take(head, row, true);
    return Line::part;
  }
};

class Sacct : public SlurmTable {
 public:
  Sacct() : SlurmTable("sacct") {}

 private:
  bool begins(std::string_view text) const override { return begins_sacct(text); }
  std::string_view wordy_column() const override { return "State"; }

  bool take(const Cells& head, const Cells& row, bool keep) override {
    const std::string_view raw = row[column(head, has(head, "JobID") ? "JobID" : "JobIDRaw")];
    const auto step = slurm_step(raw);
    const std::string_view state = row[column(head, "State")];
    if (!step || state.empty() || state.front() < 'A' || state.front() > 'Z') return false;
    if (has(head, "ExitCode") && !is_exit_code(row[column(head, "ExitCode")])) return false;
    if (!keep) return true;
    OpenPart& part = open("job");
    part.name("job", step->job);
    part.name("step", step->step);
    for (std::size_t i = 0; i < head.size(); ++i)
      if (!head[i].starts_with("JobID") && !row[i].empty()) part.value(head[i], row[i]);
    return true;
  }
};

constexpr std::array<std::string_view, 2> kNodeColumns = {"NODELIST", "HOSTNAMES"};

std::size_t node_column(const Cells& head) {
  for (const std::string_view name : kNodeColumns)
    if (has(head, name)) return column(head, name);
  return head.size();
}

class Sinfo : public SlurmTable {
 public:
  Sinfo() : SlurmTable("sinfo") {}

 private:
  bool begins(std::string_view text) const override { return begins_sinfo(text); }
  std::string_view wordy_column() const override { return "REASON"; }

  bool take(const Cells& head, const Cells& row, bool keep) override {
    const std::string_view nodes = row[node_column(head)];
    if (!is_node_list(nodes)) return false;
    if (has(head, "STATE")) {
      const std::string_view state = row[column(head, "STATE")];
      if (state.empty() || state.find_first_of(kLetters) != 0) return false;
    }
    if (!keep) return true;
    OpenPart& part = open("nodes");
    part.name("nodes", nodes);
    for (const std::string_view name : {"STATE", "REASON", "TIMESTAMP"})
      if (has(head, name) && !row[column(head, name)].empty())
        part.value(name, row[column(head, name)]);
    // "drain*": the asterisk means that the node does not respond to slurmctld.
    if (has(head, "STATE") && row[column(head, "STATE")].ends_with('*'))
      part.value("FLAGS", "NOT_RESPONDING");
    return true;
  }
};

}  // namespace

bool begins_sacct(std::string_view text) {
  if (text.find("JobID") == text.npos || text.find("State") == text.npos) return false;
  const Cells head = head_of(text);
  return (has(head, "JobID") || has(head, "JobIDRaw")) && has(head, "State");
}

std::unique_ptr<Document> make_sacct() { return std::make_unique<Sacct>(); }

bool begins_sinfo(std::string_view text) {
  if (text.find("NODELIST") == text.npos && text.find("HOSTNAMES") == text.npos) return false;
  const Cells head = head_of(text);
  return node_column(head) < head.size() && (has(head, "STATE") || has(head, "REASON")) &&
         !has(head, "JOBID");
}

std::unique_ptr<Document> make_sinfo() { return std::make_unique<Sinfo>(); }

}  // namespace faultline
