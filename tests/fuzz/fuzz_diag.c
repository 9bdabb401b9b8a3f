/*
 * Any bytes as a user's file with a mistake somewhere in it: the rendering holds no control character but newline,
 * and every line of it is short. wb-link: wb_core
 */
#include "wakebal/diag.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const char *text)
{
    size_t line = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        WB_CHECK(c == '\n' || (c >= 32 && c != 127), "control character %u gets through", c);
        line = c == '\n' ? 0 : line + 1;
        WB_CHECK(line < 16000, "an endless line gets through");
    }
}

/* The first bytes say where the mistake is; the rest is the file, its name, the message and the fix. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) return 0;
    struct wb_diag *d = wb_diag_new();
    char *text = malloc(size - 3);
    if (text) {
        memcpy(text, data + 4, size - 4);
        text[size - 4] = 0;
        struct wb_place at = {text, data[0] % 32, (int)(data[1] | (data[2] & 15) << 8), data[3]};
        wb_diag_source(d, text, text, size - 4, &(struct wb_place){"other.cfg", 3, 1, 1});
        wb_diag_add(d, WB_ERROR, text, at, text, "%s", text);
        wb_diag_add(d, WB_WARNING, NULL, (struct wb_place){text, at.line + 1, at.col, 1}, NULL, "%s", text);
        char *shown = wb_diag_render(d, false);
        check_lines(shown);
        free(shown);
    }
    free(text);
    wb_diag_free(d);
    return 0;
}
