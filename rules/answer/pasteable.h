// Commands that can be pasted: whose processes, and which server, filled in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "rules/knowledge/advice.h"
#include "rules/picture/view.h"

namespace faultline {

// The subject, with the processes of its ranks where all of them are on one host.
AdviceSubject advice_subject(const View& view, const Subject& subject);

// Leaves nothing open in what is advised.
void complete_actions(const View& view, Finding& finding);

// The query of an upload to the job: "job=llama&host=gpu-node-3".
std::string upload_query(const View& view, std::string_view name, std::string_view value);
std::string upload_query_of_any_host(const View& view);  // the one that sends it

// What a server is told and asked by whoever reads the diagnosis; none for a diagnosis of files.
Diagnosis addressed(Diagnosis diagnosis, ServerAddress server);

// Nobody but an operator's own shell can be asked to send to it.
bool is_server(std::string_view url);

}  // namespace faultline
