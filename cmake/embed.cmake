# embed_folder(TARGET FOLDER): every file of FOLDER becomes part of TARGET; embedded_files() in
# "rules/embedded.h" lists them. The assembler's .incbin copies the bytes, so size costs no compile time.
function(embed_folder target folder)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${folder} ${folder}/*.*)
  list(SORT files)
  set(assembly ".section .rodata\n")
  set(declarations "")
  set(rows "")
  set(index 0)
  foreach(file IN LISTS files)
    set(symbol "faultline_embedded_${target}_${index}")
    string(APPEND assembly
      ".global ${symbol}\n.global ${symbol}_end\n${symbol}:\n.incbin \"${PROJECT_SOURCE_DIR}/${folder}/${file}\"\n${symbol}_end:\n.byte 0\n")
    string(APPEND declarations "extern const char ${symbol}[];\nextern const char ${symbol}_end[];\n")
    string(APPEND rows "    {\"${file}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    list(APPEND depends ${PROJECT_SOURCE_DIR}/${folder}/${file})
    math(EXPR index "${index} + 1")
  endforeach()
  string(APPEND assembly ".section .note.GNU-stack,\"\",%progbits\n")
  set(out ${PROJECT_BINARY_DIR}/embedded/${target})
  file(CONFIGURE OUTPUT ${out}.S CONTENT "${assembly}" @ONLY)
  file(CONFIGURE OUTPUT ${out}.cpp CONTENT "// Generated from ${folder}/.
#include \"${target}/embedded.h\"

extern \"C\" {
${declarations}}

namespace faultline {

const std::vector<EmbeddedFile>& embedded_files() {
  static const std::vector<EmbeddedFile> files{
${rows}  };
  return files;
}

}  // namespace faultline
" @ONLY)
  set_source_files_properties(${out}.S PROPERTIES OBJECT_DEPENDS "${depends}")
  target_sources(${target} PRIVATE ${out}.S ${out}.cpp)
endfunction()
