// Precompiled for the tests of the server and the program. model/pch.h has the rules.
#pragma once

#include "../support/pch.h"
#include "http/pch.h"
