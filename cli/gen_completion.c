/* gen_completion.c - completion for bash, zsh and fish; see gen.h. Names of machines, keys and the like are asked for
 * while one types (`wakebal generate words KIND`), so that files on WAKEBAL_PATH are among them. */
#include "gen.h"

#include <ctype.h>
#include <string.h>

#include "registry.h"
#include "wakebal/metric.h"
#include "wakebal/workload.h"

/* ------------------------------------------------------------------ what goes where */
static const struct {
    const char *option, *kind;
} option_words[] = {{"machine", "machines"}, {"kernel", "kernels"}, {"policy", "policies"}, {"set", "settings"},
                    {"vary", "settings"},    {"zip", "keys"},       {"metric", "metrics"},  {"metrics", "metrics"}};
/* Positional arguments; files are offered as well, unless the verb is in `no_files`. */
static const struct {
    const char *verb, *kind;
} verb_words[] = {{"run", "scenarios"},    {"sweep", "scenarios"},    {"check", "scenarios"}, {"plot", "scenarios"},
                  {"report", "scenarios"}, {"reproduce", "cases"},    {"help", "help"},       {"list", "lists"},
                  {"show", "views"},       {"validate", "scenarios"}, {"new", "new"}};
static const char *const no_files[] = {"reproduce", "help", "list", "new", "doctor", "calibrate", "guest", "bench"};

static const char *kind_of_verb(const char *verb)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(verb_words); i++)
        if (!strcmp(verb_words[i].verb, verb)) return verb_words[i].kind;
    return "";
}

static bool takes_files(const char *verb)
{
    for (size_t i = 0; i < WB_ARRAY_SIZE(no_files); i++)
        if (!strcmp(no_files[i], verb)) return false;
    return true;
}

static const char *kind_of_option(const struct argp_option *o)
{
    for (size_t i = 0; o->name && i < WB_ARRAY_SIZE(option_words); i++)
        if (!strcmp(option_words[i].option, o->name)) return option_words[i].kind;
    return NULL;
}

/* "auto|always|never": words to choose from, in buf with blanks; NULL: anything. */
static const char *choices_of(const struct argp_option *o, char *buf, size_t n)
{
    if (!o->arg || !strchr(o->arg, '|') || strlen(o->arg) >= n) return NULL;
    for (const char *p = o->arg; *p; p++)
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && !strchr("|-.", *p)) return NULL;
    snprintf(buf, n, "%s", o->arg);
    for (char *p = buf; *p; p++)
        if (*p == '|') *p = ' ';
    return buf;
}

static bool is_short(const struct argp_option *o)
{
    return o->key > 32 && o->key < 127;
}

/* ------------------------------------------------------------------ bash */
static void bash_pattern(FILE *f, const struct argp_option *o)
{
    if (is_short(o)) fprintf(f, "-%c%s", o->key, o->name ? "|" : "");
    if (o->name) fprintf(f, "--%s", o->name);
}

static void bash_verb(FILE *f, const struct verb *v)
{
    struct gen_verb g;
    char words[128];
    gen_verb_of(v, &g);
    fprintf(f, "    %s)\n        options='", v->name);
    for (size_t i = 0; i < g.n; i++) {
        if (is_short(&g.option[i])) fprintf(f, "-%c ", g.option[i].key);
        if (g.option[i].name) fprintf(f, "--%s%s ", g.option[i].name, g.option[i].arg ? "=" : "");
    }
    fprintf(f, "'\n        kind='%s' files=%d\n        case $previous in\n", kind_of_verb(v->name),
            takes_files(v->name));
    for (size_t i = 0; i < g.n; i++) {
        const struct argp_option *o = &g.option[i];
        const char *list = choices_of(o, words, sizeof words), *kind = kind_of_option(o);
        if (!o->arg || o->flags & OPTION_ARG_OPTIONAL) continue;
        fputs("        ", f);
        bash_pattern(f, o);
        if (list)
            fprintf(f, ") value=1 options='' kind='' files=0 words='%s' ;;\n", list);
        else
            fprintf(f, ") value=1 options='' kind='%s' files=%d ;;\n", kind ? kind : "",
                    !kind || (strcmp(kind, "settings") && strcmp(kind, "keys") && !strstr(kind, "metric")));
    }
    fputs("        esac ;;\n", f);
}

void gen_bash(FILE *f)
{
    fputs("# bash completion for wakebal; made by `wakebal generate completion'.\n"
          "_wakebal() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb='' i\n"
          "    local options='' kind='' files=0 value=0 words='' program=${COMP_WORDS[0]}\n"
          "    COMPREPLY=()\n"
          "    # '=' is a word of its own to bash: --color=al is --color, =, al\n"
          "    if [[ $current == '=' ]]; then\n"
          "        current=''\n"
          "    elif [[ $previous == '=' ]]; then\n"
          "        previous=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        if [[ ${COMP_WORDS[i]} != -* ]]; then verb=${COMP_WORDS[i]}; break; fi\n"
          "    done\n"
          "    case $verb in\n"
          "    '') words='",
          f);
    for (size_t i = 0; i < verb_table_n; i++) fprintf(f, "%s ", verb_table[i].name);
    fputs("--help --version' ;;\n", f);
    for (size_t i = 0; i < verb_table_n; i++) bash_verb(f, &verb_table[i]);
    fputs("    esac\n"
          "    if [[ $current == -* && $value == 0 ]]; then\n"
          "        [[ -n $options ]] && words=$options\n"
          "    elif [[ -n $kind ]]; then\n"
          "        words=$(\"$program\" generate words \"$kind\" 2>/dev/null)\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    if [[ $files == 1 && $current != -* ]]; then\n"
          "        local IFS=$'\\n'\n"
          "        COMPREPLY+=($(compgen -f -- \"$current\"))\n"
          "        compopt -o filenames 2>/dev/null\n"
          "    fi\n"
          "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
          "    return 0\n"
          "}\n"
          "complete -F _wakebal wakebal\n",
          f);
}

/* ------------------------------------------------------------------ zsh */
/* Inside single quotes and _arguments' brackets. */
static void zsh_text(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", *s))
            fprintf(f, "\\%c", *s);
        else
            fputc(*s == '\n' ? ' ' : *s, f);
    }
}

static void zsh_option(FILE *f, const struct argp_option *o)
{
    char words[128];
    const char *list = choices_of(o, words, sizeof words), *kind = kind_of_option(o);
    bool optional = o->flags & OPTION_ARG_OPTIONAL;
    for (int form = 0; form < 2; form++) {
        if (form ? !o->name : !is_short(o)) continue;
        fputs("            '*", f);
        if (form)
            fprintf(f, "--%s%s[", o->name, o->arg ? optional ? "=-" : "=" : "");
        else
            fprintf(f, "-%c%s[", o->key, o->arg && !optional ? "+" : "");
        zsh_text(f, o->doc ? o->doc : "");
        fputc(']', f);
        if (o->arg && (form || !optional)) {
            fputs(optional ? "::" : ":", f);
            zsh_text(f, o->arg);
            if (list)
                fprintf(f, ":(%s)", list);
            else if (kind)
                fprintf(f, ": _wakebal_words %s", kind);
            else
                fputs(":_files", f);
        }
        fputs("' \\\n", f);
    }
}

void gen_zsh(FILE *f)
{
    fputs("#compdef wakebal\n# zsh completion for wakebal; made by `wakebal generate completion'.\n\n"
          "_wakebal_words() {\n"
          "    local -a list\n"
          "    list=(${(f)\"$(_call_program words ${(q)words_program:-wakebal} generate words $1 2>/dev/null)\"})\n"
          "    if [[ $1 == settings ]]; then compadd -S '' -a list; else compadd -a list; fi\n"
          "    [[ $1 == settings || $1 == keys || $1 == metrics ]] || _files\n"
          "}\n\n"
          "_wakebal() {\n"
          "    local curcontext=$curcontext state line words_program=$words[1]\n"
          "    local -a verbs\n"
          "    verbs=(\n",
          f);
    for (size_t i = 0; i < verb_table_n; i++) {
        fprintf(f, "        '%s:", verb_table[i].name);
        zsh_text(f, verb_table[i].summary);
        fputs("'\n", f);
    }
    fputs("    )\n"
          "    _arguments -C '1: :->verb' '*:: :->rest' && return\n"
          "    case $state in\n"
          "    verb) _describe verb verbs ;;\n"
          "    rest)\n"
          "        case $line[1] in\n",
          f);
    for (size_t i = 0; i < verb_table_n; i++) {
        struct gen_verb g;
        const char *kind = kind_of_verb(verb_table[i].name);
        gen_verb_of(&verb_table[i], &g);
        fprintf(f, "        %s) _arguments -s \\\n", g.verb->name);
        for (size_t k = 0; k < g.n; k++) zsh_option(f, &g.option[k]);
        if (*kind)
            fprintf(f, "            '*:argument: _wakebal_words %s' ;;\n", kind);
        else
            fprintf(f, "            '*:argument:%s' ;;\n", takes_files(g.verb->name) ? "_files" : "( )");
    }
    fputs("        esac ;;\n    esac\n}\n\n_wakebal \"$@\"\n", f);
}

/* ------------------------------------------------------------------ fish */
static void fish_text(FILE *f, const char *s)
{
    fputc('\'', f);
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\') fputc('\\', f);
        fputc(*s == '\n' ? ' ' : *s, f);
    }
    fputc('\'', f);
}

static void fish_option(FILE *f, const char *verb, const struct argp_option *o)
{
    char words[128];
    const char *list = choices_of(o, words, sizeof words), *kind = kind_of_option(o);
    fprintf(f, "complete -c wakebal -n '__fish_seen_subcommand_from %s'", verb);
    if (is_short(o)) fprintf(f, " -s %c", o->key);
    if (o->name) fprintf(f, " -l %s", o->name);
    if (o->arg && !(o->flags & OPTION_ARG_OPTIONAL)) fputs(" -r", f);
    if (o->arg && list) {
        fputs(" -f -a ", f);
        fish_text(f, list);
    } else if (o->arg && kind) {
        fprintf(f, " -a '(wakebal generate words %s)'", kind);
    }
    fputs(" -d ", f);
    fish_text(f, o->doc ? o->doc : "");
    fputc('\n', f);
}

void gen_fish(FILE *f)
{
    fputs("# fish completion for wakebal; made by `wakebal generate completion'.\n", f);
    for (size_t i = 0; i < verb_table_n; i++) {
        fprintf(f, "complete -c wakebal -n __fish_use_subcommand -f -a %s -d ", verb_table[i].name);
        fish_text(f, verb_table[i].summary);
        fputc('\n', f);
    }
    for (size_t i = 0; i < verb_table_n; i++) {
        struct gen_verb g;
        const char *name = verb_table[i].name, *kind = kind_of_verb(name);
        gen_verb_of(&verb_table[i], &g);
        for (size_t k = 0; k < g.n; k++) fish_option(f, name, &g.option[k]);
        if (*kind)
            fprintf(f, "complete -c wakebal -n '__fish_seen_subcommand_from %s'%s -a '(wakebal generate words %s)'\n",
                    name, takes_files(name) ? "" : " -f", kind);
    }
}

/* ------------------------------------------------------------------ words */
static void shipped(FILE *f, const char *kind)
{
    size_t n;
    char **names = wb_scenario_list(kind, &n);
    for (size_t i = 0; i < n; i++) fprintf(f, "%s\n", names[i]);
    wb_scenario_list_free(names);
}

static void keys_words(FILE *f, const char *after)
{
    struct wb_key_registry *keys = cli_keys_new();
    const char *last = "";
    for (size_t i = 0; i < wb_keys_count(keys); i++) {
        const struct wb_key *k = wb_keys_at(keys, i);
        bool group = k->type == WB_KEY_GROUP || k->type == WB_KEY_GROUPS;
        if (strcmp(k->path, last) && !strchr(k->path, '*') && !(group && *after)) fprintf(f, "%s%s\n", k->path, after);
        last = k->path;
    }
    wb_keys_free(keys);
}

static void metric_words(FILE *f)
{
    const struct wb_registry *r = cli_models();
    for (size_t i = 0; wb_metric_def_at(i); i++) fprintf(f, "%s\n", wb_metric_def_at(i)->name);
    for (size_t i = 0; i < r->nworkloads; i++)
        for (size_t k = 0; k < r->workloads[i]->nmetrics; k++) fprintf(f, "%s\n", r->workloads[i]->metrics[k].name);
}

static void policy_words(FILE *f)
{
    const struct wb_registry *r = cli_models();
    for (size_t i = 0; i < r->npolicies; i++) fprintf(f, "%s\n", r->policies[i]->name);
}

bool gen_words(FILE *f, const char *kind)
{
    static const struct {
        const char *kind, *words;
    } fixed[] = {{"lists", "keys\nmachines\nkernels\nworkloads\npolicies\ncases\nstudies\nmetrics\nerrors\n"},
                 {"views", "timeline\nmap\nlatency\ntimehist\ntopology\ndomains\n"},
                 {"new", "policy\nscenario\nmachine\nkernel\nworkload\n"}};
    static const char *const dirs[] = {"machines", "kernels", "workloads", "cases", "studies"};
    for (size_t i = 0; i < WB_ARRAY_SIZE(fixed); i++)
        if (!strcmp(kind, fixed[i].kind)) return fputs(fixed[i].words, f) != EOF;
    for (size_t i = 0; i < WB_ARRAY_SIZE(dirs); i++)
        if (!strcmp(kind, dirs[i])) {
            shipped(f, kind);
            return true;
        }
    if (!strcmp(kind, "scenarios")) {
        for (size_t i = 2; i < WB_ARRAY_SIZE(dirs); i++) shipped(f, dirs[i]);
    } else if (!strcmp(kind, "settings")) {
        keys_words(f, "=");
    } else if (!strcmp(kind, "keys")) {
        keys_words(f, "");
    } else if (!strcmp(kind, "metrics")) {
        metric_words(f);
    } else if (!strcmp(kind, "policies")) {
        policy_words(f);
    } else if (!strcmp(kind, "help")) {
        for (size_t i = 0; i < verb_table_n; i++) fprintf(f, "%s\n", verb_table[i].name);
        keys_words(f, "");
        for (size_t i = 0; wb_error_at(i); i++) fprintf(f, "%s\n", wb_error_at(i)->code);
    } else {
        return false;
    }
    return true;
}
