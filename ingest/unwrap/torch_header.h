// What the loggers of PyTorch and vLLM put in front of a message: those of C++ and of Python.
#pragma once

#include <cstddef>
#include <string_view>

#include "ingest/unwrap/peeled.h"

namespace faultline {

// [E305 02:47:11.123456789 ProcessGroupNCCL.cpp:616] or, without a stamp, [E
// ProcessGroupNCCL.cpp:475]
bool peel_c10_header(Peeled& line, Timestamp reference);

// E1028 12:13:38.405081 632355 ProcessGroupNCCL.cpp:843]
bool peel_glog_header(Peeled& line, Timestamp reference);

// ERROR 03-05 02:47:10 [core.py:708]
// Or without the first bracket, as vLLM wrote it until 2025. It stands before each line of a
// message, a traceback's too.
bool peel_vllm_header(Peeled& line, Timestamp reference);

// [2024-04-04 12:32:00,896] torch.distributed.elastic.multiprocessing.api: [WARNING]
bool peel_python_log_header(Peeled& line);

// WARNING:torch.distributed.elastic.agent.server.api:
bool peel_python_level(Peeled& line);

// Where in the text a line of PyTorch's begins behind something that ended without a newline: a
// progress bar, a prompt, the carets of a traceback. npos: nowhere.
std::size_t find_glued_torch_line(std::string_view text);

}  // namespace faultline
