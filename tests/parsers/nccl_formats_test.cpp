// The list of NCCL line forms in the docs is the list that the parser has.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "parsers/nccl/nccl_forms.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string form;
  std::string versions;
  std::string becomes;
  std::string line;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
  return text;
}

// Reads rows such as "| call | 2.3.7+ | call | `AllReduce: …` |"; the header and other tables are
// skipped.
std::vector<Row> documented() {
  std::vector<Row> rows;
  std::ifstream file(fs::path(TESTS_DIR) / ".." / "docs" / "nccl-formats.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ") || !line.ends_with("` |")) continue;
    std::vector<std::string> cells;
    std::size_t from = 2;
    for (int cell = 0; cell < 3; ++cell) {
      const std::size_t to = line.find(" | ", from);
      if (to == std::string::npos) break;
      cells.push_back(line.substr(from, to - from));
      from = to + 3;
    }
    if (cells.size() != 3) continue;
    const std::string sample = line.substr(from + 1, line.size() - from - 4);
    rows.push_back({cells[0], cells[1], cells[2], without(sample, "\\")});
  }
  return rows;
}

using Wording = std::pair<std::string, std::string>;  // form, versions

std::vector<Wording> in_table() {
  std::vector<Wording> wordings;
  for (const NcclForm& form : nccl_forms()) {
    std::string_view rest = form.versions;
    while (!rest.empty()) {
      const std::string_view versions = rest.substr(0, rest.find(", "));
      rest.remove_prefix(std::min(rest.size(), versions.size() + 2));
      wordings.emplace_back(form.name, versions);
    }
  }
  std::sort(wordings.begin(), wordings.end());
  return wordings;
}

TEST(NcclFormats, TheDocumentListsWhatTheTableHasAndNoMore) {
  std::vector<Wording> listed;
  for (const Row& row : documented()) listed.emplace_back(row.form, row.versions);
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(listed, in_table());
}

TEST(NcclFormats, EveryLineOfTheDocumentIsReadAsItSays) {
  for (const Row& row : documented()) {
    SCOPED_TRACE(row.line);
    std::vector<NcclLine> lines = nccl_lines(row.line);
    if (lines.empty()) {
      lines.emplace_back();
      lines[0].message = row.line;
    }
    ASSERT_EQ(lines.size(), 1U);
    std::vector<Fact> facts;
    const NcclForm* form = read_nccl_line(lines[0], facts);
    ASSERT_NE(form, nullptr);
    EXPECT_EQ(form->name, row.form);
    EXPECT_EQ(form->becomes, row.becomes);
    const bool holds_fact = !row.becomes.empty() && row.becomes != "call";
    EXPECT_EQ(!facts.empty(), holds_fact);
    for (const Fact& fact : facts) EXPECT_EQ(kind_of(fact), row.becomes);
  }
}

TEST(NcclFormats, EveryLineOfTheDocumentIsInTheGoldenLog) {
  const std::string log = contents(fs::path(TESTS_DIR) / "parsers/golden/nccl_forms/input.log");
  for (const Row& row : documented())
    EXPECT_NE(log.find(row.line + "\n"), std::string::npos) << row.line;
}

TEST(NcclFormats, NamesAreUniqueAndSubsystemsHaveNames) {
  std::vector<std::string_view> names;
  for (const NcclForm& form : nccl_forms()) {
    names.push_back(form.name);
    EXPECT_FALSE(name_of(form.subsystem).empty());
    EXPECT_NE(form.subsystem, NcclSubsystem::unknown) << form.name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace faultline
