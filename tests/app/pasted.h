// What operators paste, diagnosed alone, and what may happen to it on the way: prefixes of log
// viewers, lines that a terminal broke into rows, ends that are missing.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {

inline Diagnosis pasted(const std::string& text) {
  Workshop workshop;
  workshop.write("job/pasted.txt", text);
  return diagnosis_of(workshop.folder() / "job");
}

inline std::string cause_of(const Diagnosis& diagnosis) {
  return diagnosis.root_causes.empty() ? std::string()
                                       : std::string(name_of(diagnosis.root_causes.front().cause));
}

inline double confidence_of(const Diagnosis& diagnosis) {
  return diagnosis.root_causes.empty() ? 0 : diagnosis.root_causes.front().confidence;
}

inline std::string title_of(const Diagnosis& diagnosis) {
  return diagnosis.root_causes.empty() ? std::string() : diagnosis.root_causes.front().title;
}

inline std::vector<std::string> hosts_of(const Diagnosis& diagnosis) {
  return diagnosis.root_causes.empty() ? std::vector<std::string>()
                                       : diagnosis.root_causes.front().subject.hosts;
}

inline std::string with_prefix(const std::string& text, const std::string& prefix) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += prefix + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

// As a terminal of this width shows it.
inline std::string broken_at(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  for (const char c : text) {
    if (c != '\n' && column == width) {
      out += '\n';
      column = 0;
    }
    out += c;
    column = c == '\n' ? 0 : column + 1;
  }
  return out;
}

// The first cause rests on words alone. Such a finding is never more than possible, and its class
// may be any.
inline bool is_by_words(const Diagnosis& diagnosis) {
  return !diagnosis.root_causes.empty() &&
         std::ranges::any_of(diagnosis.explanation.findings, [&](const auto& explained) {
           return explained.detector == "by_words" &&
                  explained.finding == diagnosis.root_causes.front().id;
         });
}

inline double surely(const Diagnosis& diagnosis) {
  return is_by_words(diagnosis) ? 0 : confidence_of(diagnosis);
}

// The part has no cause, the same cause as the whole, or one that only says that something ended,
// as when one row of a traceback is left.
inline bool says_no_more(const Diagnosis& part, const Diagnosis& whole) {
  const std::string cause = cause_of(part);
  return cause.empty() || (is_by_words(part) && confidence_of(part) < 0.5) ||
         cause == cause_of(whole) || cause == "process.aborted" ||
         (cause == "software.rank_crashed" &&
          confidence_of(part) < std::min(0.8, confidence_of(whole)));
}

// Diagnoses the text with prefixes of log viewers, broken into rows, and cut at either end. No
// other and no surer answer may come.
inline void expect_the_same_of_mutations(const std::string& text) {
  const Diagnosis whole = pasted(text);
  const std::vector<std::string> hosts = hosts_of(whole);
  for (const char* prefix :
       {"2026-03-05T02:47:10Z ", "[pod/trainer-0/main] ", "[pod/x] ", "  ", "login-1: "}) {
    SCOPED_TRACE(prefix);
    const Diagnosis viewed = pasted(with_prefix(text, prefix));
    EXPECT_EQ(cause_of(viewed), cause_of(whole));
    // If the text names no host, the name of the pod may stand for it.
    if (!hosts.empty()) {
      EXPECT_EQ(hosts_of(viewed), hosts);
    }
    EXPECT_LE(surely(viewed), confidence_of(whole) + 0.01);
  }
  for (const std::size_t width : {80U, 120U}) {
    SCOPED_TRACE(width);
    const Diagnosis broken = pasted(broken_at(text, width));
    EXPECT_TRUE(says_no_more(broken, whole)) << cause_of(broken);
    EXPECT_LE(surely(broken), confidence_of(whole) + 0.01);
    EXPECT_NE(broken.verdict, Verdict::healthy);
  }
  for (std::size_t cut = 0; cut < text.size(); cut += 7) {
    const Diagnosis torn = pasted(text.substr(0, cut));
    EXPECT_TRUE(says_no_more(torn, whole)) << cut << cause_of(torn);
    EXPECT_NE(torn.verdict, Verdict::healthy) << cut;
  }
  for (std::size_t cut = 1; cut < text.size(); cut += 13) {
    const Diagnosis late = pasted(text.substr(cut));
    EXPECT_TRUE(says_no_more(late, whole)) << cut << cause_of(late);
    EXPECT_LE(surely(late), confidence_of(whole) + 0.01) << cut;
  }
}

}  // namespace faultline
