# Writes OUT, a C file with study_model(): VERSION and a sum over all sources under ROOT/PARTS, by name and content.
set(all "")
foreach(part ${PARTS})
    file(GLOB files RELATIVE "${ROOT}" "${ROOT}/${part}/*.c" "${ROOT}/${part}/*.h")
    list(SORT files)
    foreach(file ${files})
        file(SHA256 "${ROOT}/${file}" sum)
        string(APPEND all "${file} ${sum}\n")
    endforeach()
endforeach()
string(SHA256 sum "${all}")
string(SUBSTRING "${sum}" 0 12 sum)
file(WRITE "${OUT}" "/* Made by cmake/model_version.cmake. */
#include \"study.h\"

const char *study_model(void)
{
    return \"${VERSION}+${sum}\";
}
")
