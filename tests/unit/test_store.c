/* wb-link: wb_experiment wb_measure wb_machine wb_scenario wb_core */
#include "wbtest.h"

#include "store.h"
#include "store_schema.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/wb-store-XXXXXX";
static char path[64], other[64];

static struct store *open_new(const char *file, const char *name, const char *model)
{
    struct store_fault f = {.kind = STORE_FINE};
    struct store *s = store_open_write(file, name, model, &f);
    if (!s) fail_msg("%s", f.text);
    return s;
}

static int64_t add_point(struct store *s, const char *ident, int64_t place)
{
    struct store_fault f = {.kind = STORE_FINE};
    struct store_point p = {
        .place = place, .label = (char *)"a=1", .config = (char *)"c", .about = (char *)"{}", .judgement = NULL};
    strcpy(p.ident, ident);
    assert_int_equal(store_put_point(s, &p, &f), 0);
    return p.id;
}

static void add_run(struct store *s, int64_t point, uint32_t replication, const char *body)
{
    struct store_fault f = {.kind = STORE_FINE};
    const struct store_run r = {
        .point = point, .replication = replication, .layout = (char *)"{\"metrics\":[]}", .body = (char *)body};
    assert_int_equal(store_put_runs(s, &r, 1, &f), 0);
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return 0;
}

static void test_write_and_read(void **state)
{
    (void)state;
    struct store_fault f = {.kind = STORE_FINE};
    struct store *s = open_new(path, "pipe", "m1");
    int64_t p = add_point(s, "one", 0), q = add_point(s, "two", 1);
    assert_true(p > 0 && q > 0 && p != q);
    assert_true(add_point(s, "one", 0) == p); /* renewed, not doubled */
    for (uint32_t r = 0; r < 3; r++) add_run(s, p, r, "{\"values\":[]}");
    add_run(s, p, 4, "{}");
    add_run(s, p, 1, "{\"values\":[1]}"); /* is there already: stays */
    assert_int_equal(store_count_runs(s, p), 3);
    assert_int_equal(store_count_all(s), 4);
    store_close(s);
    s = store_open_read(path, &f);
    assert_non_null(s);
    char *layout, *body, *fact = store_fact(s, "name");
    assert_string_equal(fact, "pipe");
    free(fact);
    assert_int_equal(store_get_run(s, store_find_point(s, "one"), 1, &layout, &body, &f), 1);
    assert_string_equal(body, "{\"values\":[]}");
    free(layout);
    free(body);
    assert_int_equal(store_get_run(s, p, 3, &layout, &body, &f), 0);
    assert_int_equal(store_find_point(s, "three"), 0);
    store_close(s);
}

static void test_places(void **state)
{
    (void)state;
    struct store_fault f = {.kind = STORE_FINE};
    struct store *s = open_new(path, "pipe", "m1");
    add_point(s, "pilot", -1);
    add_point(s, "b", 1);
    add_point(s, "a", 0);
    size_t n;
    struct store_point *p = store_points(s, &n, &f);
    assert_int_equal(n, 3);
    assert_string_equal(p[0].ident, "a");
    assert_string_equal(p[1].ident, "b");
    assert_string_equal(p[2].ident, "pilot");
    for (size_t i = 0; i < n; i++) store_point_free(&p[i]);
    free(p);
    assert_int_equal(store_forget_places(s, &f), 0);
    p = store_points(s, &n, &f);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(p[i].place, -1);
        store_point_free(&p[i]);
    }
    free(p);
    store_close(s);
}

static void test_all_or_none(void **state)
{
    (void)state;
    struct store_fault f = {.kind = STORE_FINE};
    struct store *s = open_new(path, "pipe", "m1");
    int64_t p = add_point(s, "one", 0);
    const struct store_run r[] = {{p, 0, (char *)"{}", (char *)"{}"}, {p + 99, 1, (char *)"{}", (char *)"{}"}};
    assert_int_equal(store_put_runs(s, r, 2, &f), -1);
    assert_int_equal(store_count_all(s), 0);
    store_close(s);
}

static void test_refusals(void **state)
{
    (void)state;
    struct store_fault f = {.kind = STORE_FINE};
    assert_null(store_open_read(path, &f));
    assert_int_equal(f.kind, STORE_MISSING);
    struct store *s = open_new(path, "pipe", "m1");
    assert_null(store_open_write(path, "pipe", "m1", &f));
    assert_int_equal(f.kind, STORE_BUSY);
    store_close(s);
    assert_null(store_open_write(path, "hog", "m1", &f));
    assert_int_equal(f.kind, STORE_FOREIGN);
    assert_null(store_open_write(path, "pipe", "m2", &f));
    assert_int_equal(f.kind, STORE_FOREIGN);
    assert_non_null(strstr(f.text, "model m1"));
    assert_null(store_open_write("/nowhere/at/all.db", "pipe", "m1", &f));
    assert_int_equal(f.kind, STORE_REFUSED);
    assert_null(store_open_read(folder, &f));
    assert_int_equal(f.kind, STORE_FOREIGN);
}

static void change(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Each kind of row, changed behind the store's back. */
static void test_sums(void **state)
{
    (void)state;
    static const char *const how[] = {"UPDATE study SET value = 'x' WHERE key = 'tool'",
                                      "UPDATE point SET label = 'b=2'",
                                      "UPDATE point SET place = 5",
                                      "UPDATE point SET judgement = '{}'",
                                      "UPDATE layout SET json = '{}'",
                                      "UPDATE run SET json = '{ }'",
                                      "UPDATE run SET replication = 1",
                                      "UPDATE run SET point = 77",
                                      "CREATE TABLE more (x)",
                                      "DROP VIEW result"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(how); i++) {
        struct store_fault f = {.kind = STORE_FINE};
        struct store *s = open_new(path, "pipe", "m1");
        add_run(s, add_point(s, "one", 0), 0, "{}");
        store_close(s);
        change(how[i]);
        if (store_open_read(path, &f)) fail_msg("not noticed: %s", how[i]);
        assert_int_equal(f.kind, STORE_DAMAGED);
        unlink(path);
    }
}

static void test_merge(void **state)
{
    (void)state;
    struct store_fault f = {.kind = STORE_FINE};
    size_t copied;
    struct store *a = open_new(path, "pipe", "m1"), *b = open_new(other, "pipe", "m1");
    int64_t pa = add_point(a, "one", 0), pb = add_point(b, "two", 1), pc = add_point(b, "one", -1);
    add_run(a, pa, 0, "{\"x\":1}");
    add_run(b, pb, 0, "{\"x\":2}");
    add_run(b, pc, 0, "{\"x\":1}");
    add_run(b, pc, 1, "{\"x\":3}");
    assert_int_equal(store_merge(a, b, &copied, &f), 0);
    assert_int_equal(copied, 2);
    assert_int_equal(store_count_all(a), 3);
    assert_int_equal(store_count_runs(a, pa), 2);
    assert_int_equal(store_merge(a, b, &copied, &f), 0);
    assert_int_equal(copied, 0);
    add_run(a, pa, 2, "{\"x\":4}");
    add_run(b, pc, 2, "{\"x\":5}"); /* the same run says something else */
    assert_int_equal(store_merge(a, b, &copied, &f), -1);
    assert_int_equal(f.kind, STORE_DAMAGED);
    assert_int_equal(store_count_all(a), 4);
    store_close(b);
    unlink(other);
    b = open_new(other, "hog", "m1");
    assert_int_equal(store_merge(a, b, &copied, &f), -1);
    assert_int_equal(f.kind, STORE_FOREIGN);
    store_close(a);
    store_close(b);
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/s.db", folder);
    snprintf(other, sizeof other, "%s/o.db", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_write_and_read, teardown), cmocka_unit_test_teardown(test_places, teardown),
        cmocka_unit_test_teardown(test_all_or_none, teardown),    cmocka_unit_test_teardown(test_refusals, teardown),
        cmocka_unit_test_teardown(test_sums, teardown),           cmocka_unit_test_teardown(test_merge, teardown)};
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return rc;
}
