// Precompiled for the server and the program: what each handler sees. model/pch.h has the rules.
#pragma once

#include "client/pch.h"
#include "http/attempt.h"
#include "http/handlers.h"
#include "service/services.h"
