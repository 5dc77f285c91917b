// Boost.JSON is used header-only; its definitions are compiled here and nowhere else.
#include <boost/json/src.hpp>
