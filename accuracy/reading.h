// A simulated job's files, and the way from them to the diagnosis that `faultline diagnose` goes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "accuracy/family.h"
#include "ingest/reader.h"
#include "model/finding.h"
#include "rules/knowledge/catalog.h"
#include "simulate/truth.h"

namespace faultline::accuracy {

using Files = std::map<std::string, std::string>;  // by name below the job's folder

struct Case {
  Files files;
  simulation::Truth truth;
};

// The same family and seed, the same job.
Case case_of(const Family& family, std::uint64_t seed);

// What everybody who diagnoses shares.
class Doctor {
 public:
  Doctor();
  const Catalog& catalog() const { return catalog_; }
  Diagnosis diagnose(const Files& files) const;

 private:
  Catalog catalog_;
  std::shared_ptr<const Noteworthy> asked_;
};

}  // namespace faultline::accuracy
