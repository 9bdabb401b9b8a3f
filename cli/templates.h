/* templates.h - files that `wakebal new` writes; made from docs/examples by the build, so that what is documented is
 * what is written. */
#ifndef WB_CLI_TEMPLATES_H
#define WB_CLI_TEMPLATES_H

extern const char template_policy_c[];
extern const char template_policy_cmake[];
extern const char template_scenario[];
extern const char template_machine[];
extern const char template_kernel[];
extern const char template_workload[];

#endif
