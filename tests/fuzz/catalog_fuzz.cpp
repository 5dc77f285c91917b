// Any text as a file of the catalog: it is read, or refused with one line that begins with the file
// name and the place in it. The first byte chooses the file.
#include <stdexcept>

#include "oracle.h"
#include "rules/knowledge/catalog_files.h"

namespace {

using namespace faultline;

constexpr std::string_view kFile = "fuzz.yaml";

void check(std::string_view refusal) {
  require(refusal.starts_with("fuzz.yaml"),
          "a refusal begins with the file: " + std::string(refusal));
  require(!has_control_characters(refusal, false),
          "a refusal is one line: " + std::string(refusal));
  require(refusal.size() < 4096, "a refusal is short");
}

template <class Read>
void read(Read read_file, std::string_view text) {
  try {
    (void)read_file(kFile, text);
  } catch (const std::runtime_error& refusal) {
    check(refusal.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t which = input.byte();
  const std::string_view text = input.rest();
  switch (which % 14) {
    case 0:
      read(read_xids, text);
      break;
    case 1:
      read(read_sxids, text);
      break;
    case 2:
      read(read_xid_details, text);
      break;
    case 3:
      read(read_conditions, text);
      break;
    case 4:
      read(read_counters, text);
      break;
    case 5:
      read(read_evidence, text);
      break;
    case 6:
      read(read_grounds, text);
      break;
    case 7:
      read(read_frames, text);
      break;
    case 8:
      read(read_performance, text);
      break;
    case 9:
      read(read_settings, text);
      break;
    case 10:
      read(read_causality, text);
      break;
    case 11:
      read(check_trouble, text);
      break;
    case 12:
      read(read_word_hints, text);
      break;
    default:
      read(read_advice, text);
  }
  for (const std::string& problem : read_signatures(kFile, text).problems) check(problem);
  return 0;
}
