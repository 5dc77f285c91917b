// Logs of the outside world that somebody labelled, beside the simulated ones: how many are told
// right. A folder holds them and an index.json that says of each file (or folder) what is wrong.
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
  std::vector<std::string> classes;   // a class or the beginning of several; "" is any; none: well
  bool none_allowed = false;          // to name no cause is right as well
  bool symptoms_allowed = false;      // nobody knows the cause
  std::vector<std::string> verdicts;  // empty: any that goes with the classes
  std::vector<std::string> says;      // texts that the answer must hold
  std::vector<std::string> parts;     // host, GPU, NIC or "rank 3", that causes must name
};

// Of an index.json: labels of the form {file, expected: {class, culprit}} or {file, verdict, class,
// text_says}. Throws std::runtime_error if it is neither.
std::vector<Label> labels_of(std::string_view index_json);

// Whether its class is one that the label allows.
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

// Reads the folder, prints what is not right and one line of sums.
std::string real_report(const Doctor& doctor, const std::filesystem::path& folder);

}  // namespace faultline::accuracy
