// The two forms of a Flight Recorder dump: the pickle that PyTorch's own writer makes, and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace faultline::simulation {

struct DumpValue {
  struct Member;
  struct List {
    std::vector<DumpValue> items;
  };
  struct Tuple {  // a list in JSON
    std::vector<DumpValue> items;
  };
  struct Dictionary {
    std::vector<Member> members;
  };
  struct None {};

  std::variant<None, bool, std::int64_t, double, std::string, List, Tuple, Dictionary> value;
  int shared = -1;  // values with the same number are one object
};

struct DumpValue::Member {
  std::string name;
  DumpValue value;
};

// As torch::jit::Pickler writes it: protocol 2, each text once, no needless operations.
std::string pickled(const DumpValue& value);

// As nlohmann::json writes it: members sorted by name, no blanks.
std::string as_json(const DumpValue& value);

}  // namespace faultline::simulation
