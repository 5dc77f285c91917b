// The calls of several ranks side by side, as torchfrtrace -j prints them:
//
//   Rank 0                                         Rank 1
//   ---------------------------------------------  ---------------------------------------------
//   all_reduce(input_sizes=[[8]], state=started)   all_reduce(input_sizes=[[8]], state=started)
//   broadcast(input_sizes=[[8]], state=scheduled)
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_fr_table(std::string_view text);
std::unique_ptr<Document> make_fr_table();

}  // namespace faultline
