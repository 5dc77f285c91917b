// What a job's processes printed at its start: NICs, settings, versions.
#pragma once

#include "model/views.h"
#include "rules/picture/view.h"

namespace faultline {

void describe_start(const View& view, JobDetail& detail);

}  // namespace faultline
