// Commands that can be pasted, with the processes and the server filled in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "rules/knowledge/advice.h"
#include "rules/picture/view.h"

namespace faultline {

// The subject, with the processes of its ranks if all of them are on one host.
AdviceSubject advice_subject(const View& view, const Subject& subject);

// Fills in all placeholders of the finding's actions.
void complete_actions(const View& view, Finding& finding);

// The query of an upload to the job: "job=llama&host=gpu-node-3".
std::string upload_query(const View& view, std::string_view name, std::string_view value);
std::string upload_query_of_any_host(const View& view);  // the host that sends it

// Completes the commands that send evidence to the server. Without a server (a diagnosis of files),
// they write the evidence into files.
Diagnosis addressed(Diagnosis diagnosis, ServerAddress server);

// Whether the URL is safe to put into a command: http or https and a plain address, nothing else.
bool is_server(std::string_view url);

}  // namespace faultline
