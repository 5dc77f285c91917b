// Precompiled for the layers that use sockets. model/pch.h has the rules.
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "model/pch.h"
