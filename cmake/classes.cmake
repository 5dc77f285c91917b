# name_classes(TARGET FILE): makes enums and a table of the classes and traits in FILE, classes.yaml, for the
# sources of TARGET and of all targets that use it. So a class or a trait that is not in the file does not compile.
# model/cause.h includes them.
function(name_classes target file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(STRINGS ${file} traits REGEX "^#   [a-z_]+  ")
  list(TRANSFORM traits REPLACE "^#   ([a-z_]+)  .*$" "\\1")
  set(bit 1)
  foreach(trait IN LISTS traits)
    string(APPEND trait_rows "  ${trait} = ${bit},\n")
    math(EXPR bit "${bit} * 2")
  endforeach()
  file(STRINGS ${file} rows REGEX "^- ")
  foreach(row IN LISTS rows)
    if(NOT row MATCHES "^- {class: ([a-z0-9]+)\\.([a-z0-9_]+), traits: \\[([a-z_, ]*)\\](, tier: ([0-9]+))?}$")
      message(FATAL_ERROR "${file}: \"${row}\" is not \"- {class: family.name, traits: [...]}\"")
    endif()
    set(family ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    set(tier "${CMAKE_MATCH_5}")
    string(REPLACE ", " ";" own "${CMAKE_MATCH_3}")
    set(bits "")
    foreach(trait IN LISTS own)
      if(NOT trait IN_LIST traits)
        message(FATAL_ERROR "${file}: its head does not explain \"${trait}\", a trait of ${family}.${name}")
      endif()
      string(APPEND bits " | Trait::${trait}")
    endforeach()
    if(tier STREQUAL "")
      set(tier kNoTier)
    endif()
    list(APPEND families ${family})
    string(APPEND enum_rows "  ${family}_${name},\n")
    string(APPEND table_rows "    {\"${family}.${name}\", Family::${family}, Traits()${bits}, ${tier}},\n")
  endforeach()
  list(REMOVE_DUPLICATES families)
  list(JOIN families ", " families)
  set(root ${PROJECT_BINARY_DIR}/named/${target})
  file(CONFIGURE OUTPUT ${root}/model/classes.h CONTENT "// Generated from ${file}.
#pragma once

#include <cstdint>
#include <string_view>

namespace faultline {

enum class Cause : std::uint8_t {
  none,
${enum_rows}};

enum class Family : std::uint8_t { none, ${families} };

enum class Trait : std::uint32_t {
${trait_rows}};

class Traits {
 public:
  constexpr Traits() = default;
  constexpr Traits operator|(Trait trait) const { return Traits(bits_ | static_cast<std::uint32_t>(trait)); }
  constexpr bool has(Trait trait) const { return (bits_ & static_cast<std::uint32_t>(trait)) != 0; }

 private:
  constexpr explicit Traits(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

struct CauseClass {
  std::string_view name;  // gpu.off_bus
  Family family = Family::none;
  Traits traits;
  int tier = 0;
};

inline constexpr int kNoTier = 6;

// The first stands for no class; Cause is their place.
inline constexpr CauseClass kCauseClasses[] = {
    {\"\", Family::none, Traits(), 9},
${table_rows}};

}  // namespace faultline
" @ONLY)
  target_include_directories(${target} PUBLIC ${root})
endfunction()
