// Precompiled for the tests of rules/. model/pch.h says the rules.
#pragma once

#include "job.h"
#include "pch.h"
