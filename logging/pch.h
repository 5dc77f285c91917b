// Precompiled for layers that are optimised little. model/pch.h has the rules.
#pragma once

#include "model/pch.h"
