// Reads a folder of simulated logs as `faultline diagnose` does.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>

#include "app/input_reader.h"
#include "app/input_walker.h"
#include "rules/answer/diagnosis.h"
#include "rules/knowledge/asked_by_catalog.h"

namespace faultline {

inline Diagnosis diagnosis_of(const std::filesystem::path& folder) {
  static const Catalog catalog = load_catalog();
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const Inputs inputs = find_inputs({folder.string()}, now).value();
  JobState job("simulated");
  const auto asked = std::make_shared<AskedByCatalog>(catalog);
  std::atomic<std::uint64_t> bytes = 0;
  for (const InputFile& file : inputs.files)
    read_input(file, {.job = "simulated", .name = "", .host = ""}, asked, bytes, now,
               [&](const SourceBatch& read) {
                 job.apply(*read.source, read.batch, read.received);
                 return true;
               });
  return diagnose(job, catalog, {.now = now});
}

}  // namespace faultline
