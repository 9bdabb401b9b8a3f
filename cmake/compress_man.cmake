# Compress FOLDER/*.[0-9] by GZIP, if there is one; without a time stamp, so that equal pages are equal files.
file(GLOB pages "${FOLDER}/*.[0-9]")
if(GZIP AND pages)
    execute_process(COMMAND "${GZIP}" -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
