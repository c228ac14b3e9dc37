/* cli/main.c: the tool `libsolver`
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"

int main(int count, char **arguments)
{
    settings s;
    failure f = {0};
    if (!settings_parse(&s, count, arguments, &f))
        switch (s.command) {
        case COMMAND_SOLVE:
            command_solve(&s, &f);
            break;
        case COMMAND_BENCH:
            command_bench(&s, &f);
            break;
        case COMMAND_GENERATE:
            command_generate(&s, &f);
            break;
        case COMMAND_INFO:
            command_info(&s, &f);
            break;
        case COMMAND_HELP:
            print_help(&s, stdout);
            break;
        case COMMAND_VERSION:
            printf("libsolver %s\n", libsolver_version());
            break;
        }
    if (f.code)
        fprintf(stderr, "libsolver: %s\n", f.text);
    return f.code;
}
