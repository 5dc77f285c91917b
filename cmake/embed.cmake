# embed_folder(TARGET FOLDER [HEADER header] [TYPE type] [FUNCTION function] [FILES pattern] [PACKER program]):
# embeds the files of FOLDER, or those that match a pattern, into TARGET; of YAML files, the output of PACKER.
# HEADER, which the target has, declares the type, a struct of name and text, and the function that lists the
# files in the order of their names:
#   const std::vector<EmbeddedFile>& embedded_files();
# The assembler's .incbin copies the bytes, so size costs no compile time.
function(embed_folder target folder)
  cmake_parse_arguments(ARG "" "HEADER;TYPE;FUNCTION;FILES;PACKER" "" ${ARGN})
  foreach(default IN ITEMS HEADER=${target}/embedded.h TYPE=EmbeddedFile FUNCTION=embedded_files FILES=*.*)
    string(REGEX MATCH "^([A-Z]+)=(.*)$" matched ${default})
    if(NOT DEFINED ARG_${CMAKE_MATCH_1})
      set(ARG_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()

  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${folder} ${folder}/${ARG_FILES})
  list(SORT files)
  set(assembly ".section .rodata\n")
  set(declarations "")
  set(rows "")
  set(depends "")
  set(index 0)
  foreach(file IN LISTS files)
    set(symbol "faultline_${target}_${ARG_FUNCTION}_${index}")
    set(bytes ${PROJECT_SOURCE_DIR}/${folder}/${file})
    if(ARG_PACKER AND file MATCHES "\\.yaml$")
      set(packed ${PROJECT_BINARY_DIR}/embedded/${target}_${ARG_FUNCTION}_${file}.packed)
      add_custom_command(OUTPUT ${packed} COMMAND ${ARG_PACKER} ${bytes} ${packed}
                         DEPENDS ${bytes} ${ARG_PACKER} COMMENT "Packing ${file}" VERBATIM)
      set(bytes ${packed})
    endif()
    string(APPEND assembly
      ".global ${symbol}\n.global ${symbol}_end\n${symbol}:\n.incbin \"${bytes}\"\n${symbol}_end:\n.byte 0\n")
    string(APPEND declarations "extern const char ${symbol}[];\nextern const char ${symbol}_end[];\n")
    string(APPEND rows "    {\"${file}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    list(APPEND depends ${bytes})
    math(EXPR index "${index} + 1")
  endforeach()
  string(APPEND assembly ".section .note.GNU-stack,\"\",%progbits\n")
  set(out ${PROJECT_BINARY_DIR}/embedded/${target}_${ARG_FUNCTION})
  file(CONFIGURE OUTPUT ${out}.S CONTENT "${assembly}" @ONLY)
  file(CONFIGURE OUTPUT ${out}.cpp CONTENT "// Generated from ${folder}/.
#include \"${ARG_HEADER}\"

extern \"C\" {
${declarations}}

namespace faultline {

const std::vector<${ARG_TYPE}>& ${ARG_FUNCTION}() {
  static const std::vector<${ARG_TYPE}> files{
${rows}  };
  return files;
}

}  // namespace faultline
" @ONLY)
  set_source_files_properties(${out}.S PROPERTIES OBJECT_DEPENDS "${depends}")
  target_sources(${target} PRIVATE ${out}.S ${out}.cpp)
endfunction()
