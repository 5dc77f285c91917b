// What a job's start looked like, for people who ask.
#pragma once

#include "model/views.h"
#include "rules/picture/view.h"

namespace faultline {

void describe_start(const View& view, JobDetail& detail);

}  // namespace faultline
