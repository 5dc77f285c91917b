// What the type of an exception tells of its origin.
#pragma once

#include "model/facts/torch.h"

namespace faultline {

// The operating system refused something. That says nothing about the program.
bool is_of_the_host(const PythonException& exception);

// No fault of a machine makes a program raise it: a name, key, type or module is wrong.
bool is_of_the_code(const PythonException& exception);

// What a test found wrong with what it had measured or compared: the test runner goes on.
bool is_of_a_test(const PythonException& exception);
// The same, by a case of unittest, which no program but a test runs.
bool is_of_a_test_case(const PythonException& exception);

}  // namespace faultline
