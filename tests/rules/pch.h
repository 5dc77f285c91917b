// Precompiled for the tests of rules/. model/pch.h has the rules.
#pragma once

#include "../support/pch.h"
#include "job.h"
