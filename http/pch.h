// Precompiled for every file of http/: the parts of Boost that are slow to read. No file may rely
// on it; each includes what it uses (the lint build has no precompiled headers).
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>
