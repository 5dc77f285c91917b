// Precompiled for the layers of rules/ from picture/ up, and for the layers that use them: the
// picture of a job, which every detector reads. model/pch.h has the rules.
#pragma once

#include "model/pch.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/suspicion.h"
#include "rules/picture/view.h"
