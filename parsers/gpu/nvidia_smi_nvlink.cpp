#include "parsers/gpu/nvidia_smi_nvlink.h"

#include <optional>

#include "parsers/gpu/nvidia_smi_error.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

struct Gpu {
  std::string_view index;
  std::string_view model;
  std::string_view uuid;
};

// "..." of a person who left lines out.
bool is_left_out(std::string_view text) {
  return !text.empty() && text.find_first_not_of(".*xX-<> ") == std::string_view::npos;
}

// GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaabbbb-0000-1111-2222-333344445555)
std::optional<Gpu> gpu_line(std::string_view text) {
  Gpu gpu;
  if (!take_front(text, "GPU ") || !take_until(text, ": ", gpu.index) || !is_count(gpu.index) ||
      !take_until(text, " (UUID: ", gpu.model) || !text.ends_with(')'))
    return std::nullopt;
  gpu.uuid = text.substr(0, text.size() - 1);
  return gpu.uuid.starts_with("GPU-") || is_left_out(gpu.uuid) ? std::optional(gpu) : std::nullopt;
}

class Links : public PartDocument {
 public:
  Links() : PartDocument("nvidia-smi-nvlink") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (const auto gpu = gpu_line(text)) {
      give_all();
      words_.clear();
      word(gpu->index);
      word(gpu->uuid);
      OpenPart& part = open("gpu");
      name_gpu(part);
      part.value("name", gpu->model);
      return Line::part;
    }
    if (const auto error = nvidia_smi_error(text)) {
      give_all();
      words_.clear();
      error->tell(open(error->kind()));
      return Line::part;
    }
    if (words_.size() < 2) return Line::foreign;
    if (text.starts_with("NVML: ") || text.starts_with("Unable to retrieve NVLink ")) {
      if (OpenPart* gpu = find("gpu", "index", words_[0])) gpu->value("error", text);
      return Line::part;
    }
    if (take_front(text, "Link ")) return read_link(text) ? Line::part : Line::foreign;
    return text.starts_with("MIG ") ? Line::part : Line::foreign;
  }

  void name_gpu(OpenPart& part) {
    part.name("index", words_[0]);
    if (!is_left_out(words_[1])) part.name("uuid", words_[1]);
  }

  // "0: 26.562 GB/s", "17: <inactive>", "0: Replay Errors: 0", "0, P2P is supported: true"
  bool read_link(std::string_view text) {
    std::string_view link = text.substr(0, text.find_first_not_of("0123456789"));
    if (!is_count(link)) return false;
    text.remove_prefix(link.size());
    if (!take_front(text, ": ") && !take_front(text, ", ")) return false;
    std::string_view name = "Status";
    std::string_view rest = trimmed(text);
    if (take_until(rest, ": ", name)) name = trimmed(name);
    OpenPart* part = find("nvlink", "link", link);
    if (part == nullptr) {
      part = &open("nvlink");
      name_gpu(*part);
      part->name("link", link);
    }
    part->value(name, trimmed(rest));
    return true;
  }
};

}  // namespace

bool begins_nvidia_smi_nvlink(std::string_view text) {
  text.remove_prefix(indentation(text));
  return text.starts_with("GPU ") && gpu_line(without_end_blanks(text)).has_value();
}

std::unique_ptr<Document> make_nvidia_smi_nvlink() { return std::make_unique<Links>(); }

}  // namespace faultline
