/* wb-link: wb_core */
#include <stdlib.h>

#include "wakebal/base.h"
#include "wbtest.h"

/* Whatever the length: nothing is cut off. */
static void texts_of_any_length(void **state)
{
    (void)state;
    for (size_t n = 0; n < 100000; n = n * 3 + 1) {
        char *text = wb_text("%*s|%zu|", (int)n, "", n), tail[32];
        int len = snprintf(tail, sizeof tail, "|%zu|", n);
        assert_int_equal(strlen(text), n + (size_t)len);
        assert_string_equal(text + n, tail);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_of_any_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
