#include "parsers/document.h"
#include "parsers/json_document.h"
#include "parsers/ncclras_text.h"
#include "parsers/nvidia_smi_csv.h"
#include "parsers/nvidia_smi_error.h"
#include "parsers/nvidia_smi_nvlink.h"
#include "parsers/nvidia_smi_q.h"
#include "parsers/nvidia_smi_table.h"
#include "parsers/nvidia_smi_topo.h"

namespace faultline {
namespace {

constexpr DocumentFormat kFormats[] = {
    {"ncclras", begins_ncclras_text, make_ncclras_text},
    {"json", begins_json_document, make_json_document},
    {"nvidia-smi", begins_nvidia_smi_table, make_nvidia_smi_table},
    {"nvidia-smi-q", begins_nvidia_smi_q, make_nvidia_smi_q},
    {"nvidia-smi-csv", begins_nvidia_smi_csv, make_nvidia_smi_csv},
    {"nvidia-smi-nvlink", begins_nvidia_smi_nvlink, make_nvidia_smi_nvlink},
    {"nvidia-smi-topo", begins_nvidia_smi_topo, make_nvidia_smi_topo},
    {"nvidia-smi-error", begins_nvidia_smi_error, make_nvidia_smi_error},
};

}  // namespace

std::span<const DocumentFormat> all_documents() { return kFormats; }

}  // namespace faultline
