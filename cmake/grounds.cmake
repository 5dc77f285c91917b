# name_grounds(TARGET FILE): makes enums of the names in FILE, grounds.yaml, for the sources of TARGET and of all
# targets that use it. So a ground that is not in the file does not compile.
function(name_grounds target file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(STRINGS ${file} lines REGEX "^[a-z]+:|^  [a-z_0-9]+:")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([a-z]+):")
      set(section ${CMAKE_MATCH_1})
      if(section STREQUAL "company")
        set(section grounds)  # in the same enum, after the grounds
      endif()
    elseif(line MATCHES "^  ([a-z_0-9]+): *([0-9.]*)")
      string(APPEND ${section}_enumerators "  ${CMAKE_MATCH_1},\n")
      string(APPEND ${section}_names "    \"${CMAKE_MATCH_1}\",\n")
      string(APPEND ${section}_constants
        "inline constexpr double ${CMAKE_MATCH_1} = ${CMAKE_MATCH_2};\n")
    endif()
  endforeach()
  set(root ${PROJECT_BINARY_DIR}/named/${target})
  set(head "// Generated from ${file}.\n#pragma once\n\n")
  file(CONFIGURE OUTPUT ${root}/rules/knowledge/ground_names.h CONTENT "${head}#include <cstdint>
#include <string_view>

namespace faultline {

enum class Ground : std::uint16_t {
${grounds_enumerators}};

inline constexpr std::string_view kGroundNames[] = {
${grounds_names}};

enum class Claim : std::uint16_t {
${claims_enumerators}};

inline constexpr std::string_view kClaimNames[] = {
${claims_names}};

}  // namespace faultline
" @ONLY)
  file(CONFIGURE OUTPUT ${root}/rules/knowledge/limits.h CONTENT "${head}// NOLINTBEGIN(readability-identifier-naming): the names are those of grounds.yaml.
namespace faultline::limits {

${limits_constants}
}  // namespace faultline::limits
// NOLINTEND(readability-identifier-naming)
" @ONLY)
  target_include_directories(${target} PUBLIC ${root})
endfunction()
