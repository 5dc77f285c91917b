// The log files of container runtimes.
#pragma once

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/pieces.h"
#include "ingest/unwrap/step.h"
#include "ingest/unwrap/text_pool.h"
#include "parsers/json/json_text.h"

namespace faultline {

// 2024-05-01T12:34:56.789012345Z stdout F msg; P instead of F: there is more to come.
Step peel_cri(Peeled& line, Pieces& pieces, TextPool& pool);

// {"log":"msg\n","stream":"stdout","time":"2024-05-01T12:34:56.7Z"}; without \n there is more to
// come.
Step peel_docker_json(Peeled& line, JsonText& json, Pieces& pieces, TextPool& pool);

// ERROR 2024-05-01T12:34:56.789012345Z [resource.labels.containerName: trainer] msg, as viewers of
// a cloud's logs copy it: a severity, the stamp, what the viewer was told to show beside it.
bool peel_cloud_severity(Peeled& line);

}  // namespace faultline
