#include "parsers/gpu/xid_quoted.h"

#include <string>

#include "model/pci_address.h"
#include "parsers/pattern.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

PartReport report_of(std::string_view gpu, std::string_view code) {
  PartReport report{.tool = "gpu-agent", .kind = "gpu", .names = {}, .values = {}};
  if (const auto pci = normal_pci(gpu))
    set_name(report.names, "pci", *pci);
  else
    set_name(report.names, gpu.starts_with("GPU-") ? "uuid" : "index", gpu);
  set_value(report.values, "xid", code);
  return report;
}

}  // namespace

bool parse_quoted_xid(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kXid(
      R"((?i:\bxid[ =])(\d{1,3})(?:\.\d+)?\b[^\r\n]{0,200}?(?: detected on (?:GPU )?(?:UUID:)?| on Device=)(?:PCI:)?((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?|GPU-[0-9a-fA-F-]{36}))");
  static const Pattern kCondition(
      R"re(^\s*XidCriticalError +True +\S[^\r\n]{0,120}? \{"(\d{1,3})": ?true)re");
  std::string_view code;
  std::string_view gpu;
  if (!kXid.find(text, &code, &gpu) && !kCondition.find(text, &code)) return false;
  readings.push_back({.fact = report_of(gpu, code)});
  return true;
}

// An event on one line. An event that says that the GPU is healthy again gives no fact.
bool parse_nvsentinel(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kHealthy(R"("is_?[hH]ealthy": ?true)");
  static const Pattern kCode(R"re("error_?[cC]odes?": ?\[ ?"?(\d{1,3})\b)re");
  static const Pattern kMessage(R"re("message": ?"[^"]{0,400}\bX(?i:id):? ?(\d{1,3})\b)re");
  static const Pattern kGpu(
      R"re("entity_?[tT]ype": ?"(?:GPU|PCI|GPU_UUID|UUID)", ?"entity_?[vV]alue": ?"([0-9a-zA-Z:.-]{1,40})")re");
  static const Pattern kNode(R"re("node_?[nN]ame": ?"([\w.-]{1,253})")re");
  static const Pattern kXid(R"re("check_?[nN]ame": ?"[^"]*(?i:xid))re");
  if (!kXid.find(text)) return false;
  std::string_view code;
  std::string_view gpu;
  std::string_view node;
  if (kHealthy.find(text) || !kGpu.find(text, &gpu)) return true;
  // The code may be a word of DCGM instead of a number; then the message may have the number.
  if (!kCode.find(text, &code) && !kMessage.find(text, &code)) return true;
  kNode.find(text, &node);
  readings.push_back({.fact = report_of(gpu, code), .host = std::string(node)});
  return true;
}

}  // namespace faultline
