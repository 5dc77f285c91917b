// Precompiled for every file of rules/picture/ and of the layers above it in rules/. model/pch.h says
// the rules.
#pragma once

#include "model/pch.h"
#include "rules/knowledge/suspicion.h"
#include "rules/picture/view.h"
