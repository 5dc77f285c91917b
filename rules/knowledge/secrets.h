// What must not be kept, shown or told of a line: passwords, tokens and keys, by the shapes that
// they have (secrets.yaml). Each of their letters becomes a star, so that all else stands where it
// stood.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/open_secret.h"

namespace faultline {

struct SecretShape {
  std::string id;
  std::vector<std::string> literals;  // a line that can hold it holds one of them
  std::vector<std::string> words;     // or begins a word with one of them
  std::string then;                   // see secrets.yaml
  bool ends = false;
  std::size_t least = 0;
  std::string name;                   // of RE2; the value of what is called so is hidden
  std::string value;                  // of which kind that is: see secret_value.h
  std::string pattern;                // without a name: of RE2; its group "secret" is hidden
  std::string cut_pattern;            // of a line that ends in the midst of it; empty: the same
  std::vector<std::string> samples;   // lines that hold it
  std::vector<std::string> harmless;  // lines that look alike and hold none
};

class Secrets {
 public:
  Secrets();  // hides nothing
  // Throws std::invalid_argument that names the shape if its pattern is none, or lacks the group.
  explicit Secrets(std::vector<SecretShape> shapes);
  ~Secrets();

  const std::vector<SecretShape>& shapes() const { return shapes_; }

  // Whether the line holds any; then `hidden` is the line without them. open: what the line before
  // left open; it is set for the next line. is_cut: the line may go on.
  bool hide(std::string_view line, bool is_cut, OpenSecret& open, std::string& hidden) const;

 private:
  class Impl;
  std::vector<SecretShape> shapes_;
  std::unique_ptr<const Impl> impl_;
};

// A sample as it is tried: "<36>" in it stands for so many letters and digits.
std::string expanded_sample(std::string_view sample);

}  // namespace faultline
