// The files of a simulated job, and their diagnosis as `faultline diagnose` makes it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "accuracy/family.h"
#include "ingest/reader.h"
#include "model/batch.h"
#include "model/finding.h"
#include "rules/knowledge/catalog.h"
#include "simulate/truth.h"

namespace faultline::accuracy {

using Files = std::map<std::string, std::string>;  // by name below the job's folder

struct Case {
  Files files;
  simulation::Truth truth;
};

// The same family and seed give the same job.
Case case_of(const Family& family, std::uint64_t seed);

// Files that were parsed once, to be diagnosed together with others.
using ReadFiles = std::vector<std::pair<Source, Batch>>;

// Reads and diagnoses files; holds the catalog that all diagnoses share.
class Doctor {
 public:
  Doctor();
  const Catalog& catalog() const { return catalog_; }
  Diagnosis diagnose(const Files& files) const;
  ReadFiles read(const Files& files) const;
  Diagnosis diagnose(const ReadFiles& files, const ReadFiles& besides = {}) const;
  // A file or a folder as `faultline diagnose PATH` reads it.
  Diagnosis diagnose_path(const std::filesystem::path& path) const;

 private:
  Catalog catalog_;
  std::shared_ptr<const Noteworthy> asked_;
};

}  // namespace faultline::accuracy
