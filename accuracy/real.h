// Counts the right answers on real logs that people have labelled. A folder holds the logs and an
// index.json that says of each file (or folder) what is wrong.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "accuracy/reading.h"
#include "model/finding.h"

namespace faultline::accuracy {

// What a label says.
struct Label {
  std::string file;
  std::vector<std::string> classes;   // or prefixes of them; "" is any; none: nothing is wrong
  bool none_allowed = false;          // naming no cause is right as well
  bool symptoms_allowed = false;      // nobody knows the cause
  std::vector<std::string> verdicts;  // empty: any that fits the classes
  std::vector<std::string> says;      // texts that the answer must contain
  std::vector<std::string> parts;     // host, GPU, NIC or "rank 3", that causes must name
};

// Reads an index.json: labels of the form {file, expected: {class, culprit}} or {file, verdict,
// class, text_says}. Throws std::runtime_error for any other form.
std::vector<Label> labels_of(std::string_view index_json);

// Whether the label allows the class of this cause.
bool is_of(const Finding& cause, const Label& label);

enum class Told { right, wrong, over_accused };

struct Judged {
  Told told = Told::wrong;
  bool parts_named = true;
  std::string answer;  // verdict and causes, in short
};

// Over-accused: nothing is wrong, or nobody knows what, and a cause is stated at 0.5 or more; or a
// wrong cause is stated at 0.8 or more.
Judged judge_real(const Diagnosis& diagnosis, const Label& label);

// Diagnoses the logs of the folder; returns what is not right, and one line of totals.
std::string real_report(const Doctor& doctor, const std::filesystem::path& folder);

}  // namespace faultline::accuracy
