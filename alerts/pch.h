// Precompiled for alerts/ and the layers that speak over sockets. model/pch.h says the rules.
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "model/pch.h"
