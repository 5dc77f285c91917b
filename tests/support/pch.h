// Precompiled for all tests. The rules are in model/pch.h.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/pch.h"
