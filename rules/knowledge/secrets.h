// Hides what must not be kept or shown of a line: passwords, tokens and keys, found by their shapes
// (secrets.yaml). Each of their letters becomes a star, so that the rest of the line keeps its
// place.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/open_secret.h"

namespace faultline {

struct SecretShape {
  std::string id;
  std::vector<std::string> literals;  // a line with such a secret holds one of these
  std::vector<std::string> words;     // or has a word that begins with one of these
  std::string then;                   // see secrets.yaml
  bool ends = false;
  std::size_t least = 0;
  std::string name;         // RE2; the value of a setting with this name is hidden
  std::string value;        // the kind of that value: see secret_value.h
  std::string pattern;      // without a name: RE2; its group "secret" is hidden
  std::string cut_pattern;  // also tried if the line may end inside the secret; empty: none
  std::vector<std::string> samples;   // lines that hold it
  std::vector<std::string> harmless;  // lines that look alike and hold none
};

class Secrets {
 public:
  Secrets();  // hides nothing
  // Throws std::invalid_argument with the shape's id if a pattern is not valid or lacks the group.
  // checked: all are known to be valid, and each is compiled when it is first needed.
  enum class Were { not_checked, checked };
  explicit Secrets(std::vector<SecretShape> shapes, Were were = Were::not_checked);
  ~Secrets();

  const std::vector<SecretShape>& shapes() const { return shapes_; }

  // Whether the line holds a secret; if so, `hidden` is the line with its letters as stars. open:
  // what the line before left open; it is updated for the next line. is_cut: the line may go on.
  bool hide(std::string_view line, bool is_cut, OpenSecret& open, std::string& hidden) const;

 private:
  class Impl;
  std::vector<SecretShape> shapes_;
  std::unique_ptr<const Impl> impl_;
};

// Expands a sample: "<36>" stands for 36 letters and digits.
std::string expanded_sample(std::string_view sample);

}  // namespace faultline
