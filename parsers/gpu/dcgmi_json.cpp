#include "parsers/gpu/dcgmi_json.h"

#include <string>

#include "parsers/gpu/dcgmi_health.h"
#include "parsers/tool/part_json.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kDiagRoots[] = {"DCGM GPU Diagnostic", "DCGM Diagnostic"};

bool take_diag_root(std::string_view& path) {
  for (const std::string_view root : kDiagRoots)
    if (take_front(path, root) && (path.empty() || take_front(path, "/"))) return true;
  return false;
}

class Diag : public PartJson {
 public:
  Diag() : PartJson("dcgmi-diag") { sense_ = Sense::mine; }

  void value(std::string_view path, const JsonValue& value) override {
    if (!take_diag_root(path)) return;
    const std::string text = unescaped(value.text);
    constexpr std::string_view kTests = "test_categories/tests/";
    if (path == "Driver Version Detected" || path == "metadata/Driver Version Detected")
      host().value("Driver Version Detected", text);
    if (!take_front(path, kTests)) return;
    if (path == "name") return set(kTest, text);
    if (path == "test_summary/status") return host().value(get(kTest), text);
    if (!take_front(path, "results/")) return;
    if (path == "gpu_id" || path == "gpu_ids" || path == "entity_id") return add_gpu(text);
    if (path == "entity_group") return set(kGroup, text);
    if (path == "status") return set(kStatus, text);
    if (path == "warnings" || path == "warnings/warning") set(kWarnings, text);
  }

  void closed_object(std::string_view path) override {
    if (path.empty()) return give_all();
    if (!take_diag_root(path)) return;
    if (path == "test_categories/tests/results") tell_result();
    if (path == "test_categories/tests") set(kTest, {});
  }

 private:
  enum Word { kTest, kGroup, kGpus, kStatus, kWarnings, kWords };

  // text: a list of numbers, or one element of an array.
  void add_gpu(std::string_view text) {
    if (get(kGpus) == text) return;  // the same list under another key
    set(kGpus,
        get(kGpus).empty() ? std::string(text) : std::string(get(kGpus)) + "," + std::string(text));
  }

  void tell_result() {
    const bool of_gpus = get(kGroup).empty() || get(kGroup) == "GPU";
    for (const std::string_view gpu : pieces_of(get(kGpus), ","))
      if (of_gpus && is_count(gpu)) tell(find_or_open("gpu", "index", gpu));
    if (of_gpus && get(kGpus).empty()) tell(host());
    for (std::size_t word = kGroup; word < kWords; ++word) set(word, {});
  }

  void tell(OpenPart& part) {
    if (get(kTest).empty()) return;
    if (!get(kStatus).empty()) part.value(get(kTest), get(kStatus));
    if (!get(kWarnings).empty())
      part.value(std::string(get(kTest)) + " / warnings", get(kWarnings));
  }

  OpenPart& host() { return find_or_open("host", "index", ""); }
};

// {"body": …, "header": […]}, in either order: the body shows which report it is.
class Table : public PartJson {
 public:
  Table() : PartJson("dcgmi-health") {}

  void key(std::string_view path) override {
    if (path == "header" || path == "body" || sense_ != Sense::unsure) return;
    if (path.starts_with("body/Link ") || path == "body/Overall Health" ||
        path.ends_with("/children/Errors"))
      sense_ = Sense::mine;
    else if (!path.starts_with("body/GPU") && !path.starts_with("body/NvSwitch"))
      sense_ = Sense::not_mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    const std::string text = unescaped(value.text);
    if (path == "header") {
      std::string_view index = text;
      if (take_front(index, "GPU ")) set(kGpu, trimmed(index));
      return;
    }
    if (!take_front(path, "body/") || !path.ends_with("/value")) return;
    path.remove_suffix(sizeof("/value") - 1);
    if (take_front(path, "Link ")) return link_value(path, text);
    health_value(path, text);
  }

  void closed_object(std::string_view path) override {
    if (!path.empty()) return;
    for (OpenPart& part : all()) {
      if (part.report.kind != "nvlink") continue;
      part.name("index", get(kGpu));
      tool_ = "dcgmi-nvlink";
    }
    if (sense_ == Sense::mine) give_all();
  }

 private:
  enum Word { kGpu };

  // "0/children/CRC Data Error"
  void link_value(std::string_view path, std::string_view text) {
    std::string_view link;
    if (!take_until(path, "/children/", link) || !is_count(link)) return;
    find_or_open("nvlink", "link", link).value(path, text);
  }

  // "Overall Health", "GPU/children/3", "GPU/children/3/children/Errors/children/Memory system"
  void health_value(std::string_view path, std::string_view text) {
    if (path == "Overall Health") return find_or_open("host", "index", "").value(path, text);
    std::string_view index;
    if (!take_front(path, "GPU/children/")) return;
    const bool of_system = take_until(path, "/children/", index);
    if (!of_system) index = path;
    if (!is_count(index)) return;
    OpenPart& gpu = find_or_open("gpu", "index", index);
    if (!of_system) return gpu.value("Overall Health", text);
    const std::size_t system = path.rfind("/children/");
    if (system == std::string_view::npos) return;
    const std::string name(path.substr(system + sizeof("/children/") - 1));
    const HealthValue value = faultline::health_value(text);
    gpu.value(name, value.result);
    if (!value.message.empty()) gpu.value(name + " / message", value.message);
  }
};

}  // namespace

bool begins_dcgmi_diag_json(std::string_view first_key) {
  return first_key == kDiagRoots[0] || first_key == kDiagRoots[1];
}

std::unique_ptr<JsonReport> make_dcgmi_diag_json() { return std::make_unique<Diag>(); }

bool begins_dcgmi_table_json(std::string_view first_key) {
  return first_key == "header" || first_key == "body";
}

std::unique_ptr<JsonReport> make_dcgmi_table_json() { return std::make_unique<Table>(); }

}  // namespace faultline
