// Precompiled for all tests. model/pch.h says the rules.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/pch.h"
