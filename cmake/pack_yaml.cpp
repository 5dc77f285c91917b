// pack_yaml IN OUT: writes a YAML file in a form that is read without parsing.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "rules/knowledge/yaml_node.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: pack_yaml IN OUT\n";
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) {
    std::cerr << argv[1] << ": cannot be read\n";
    return 1;
  }
  const faultline::YamlTree tree(text);
  if (const faultline::YamlFault& fault = tree.fault(); !fault.what.empty()) {
    std::cerr << argv[1] << ":" << fault.line << ": " << fault.what << "\n";
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary);
  out << tree.pack() << std::flush;
  return out ? 0 : 1;
}
