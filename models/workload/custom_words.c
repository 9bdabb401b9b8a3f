#include "custom.h"

#include <string.h>

const struct custom_word custom_words[] = {
    {"run", CUSTOM_RUN, ARGS_DIST, "run TIME", "compute that long at full speed of a CPU"},
    {"sleep", CUSTOM_SLEEP, ARGS_DIST, "sleep TIME", "sleep that long"},
    {"timer", CUSTOM_TIMER, ARGS_TIME, "timer PERIOD",
     "sleep until the next multiple of the period since the task began"},
    {"touch", CUSTOM_TOUCH, ARGS_REGION, "touch REGION [SIZE] [read] [random]",
     "run through a region, or its first bytes; as a write unless `read`, "
     "as a stream unless `random`"},
    {"read", CUSTOM_READ, ARGS_CHANNEL_SIZE, "read CHANNEL SIZE", "one read: may return less"},
    {"readall", CUSTOM_READALL, ARGS_CHANNEL_SIZE, "readall CHANNEL SIZE", "read until all of it is there"},
    {"write", CUSTOM_WRITE, ARGS_CHANNEL_SIZE, "write CHANNEL SIZE", "write all of it"},
    {"close", CUSTOM_CLOSE, ARGS_CHANNEL, "close CHANNEL", "close the ends that the program uses"},
    {"wait", CUSTOM_WAIT, ARGS_EVENT, "wait EVENT",
     "sleep until the event is woken; with memory, until its count is above zero, and take one"},
    {"wake", CUSTOM_WAKE, ARGS_EVENT_HOW, "wake EVENT [all] [sync]",
     "wake one waiter or all; with memory, add one first"},
    {"sem_wait", CUSTOM_WAIT, ARGS_EVENT, "sem_wait EVENT", "the same as wait"},
    {"sem_post", CUSTOM_WAKE, ARGS_EVENT_HOW, "sem_post EVENT [sync]", "the same as wake"},
    {"suspend", CUSTOM_SUSPEND, ARGS_NONE, "suspend",
     "sleep until another task resumes this one; a resume before that is lost"},
    {"resume", CUSTOM_RESUME, ARGS_TASK, "resume TASK", "wake a suspended copy of that task"},
    {"lock", CUSTOM_LOCK, ARGS_LOCK, "lock LOCK", "take a lock that sleeps"},
    {"unlock", CUSTOM_UNLOCK, ARGS_LOCK, "unlock LOCK", "drop it"},
    {"yield", CUSTOM_YIELD, ARGS_NONE, "yield", "sched_yield"},
    {"loop", CUSTOM_LOOP, ARGS_LOOP, "loop [N]", "repeat up to the matching `end` N times, or for ever"},
    {"every", CUSTOM_EVERY, ARGS_EVERY, "every PERIOD",
     "skip to the matching `end` unless the period has passed since this was last done; the first time it is done"},
    {"end", CUSTOM_END, ARGS_NONE, "end", "end of a loop; each round costs 1 ns at least"},
    {"count", CUSTOM_COUNT, ARGS_COUNTER, "count NAME [N]", "add to a figure that is reported per second"},
    {"start", CUSTOM_START, ARGS_WATCH, "start NAME", "start a stopwatch"},
    {"stop", CUSTOM_STOP, ARGS_WATCH, "stop NAME", "stop it: the time goes into a histogram of that name"},
    {"fork", CUSTOM_FORK, ARGS_TASK, "fork TASK",
     "start the next copy of that task, which then does not start by itself"},
    {"pin", CUSTOM_PIN, ARGS_CPUS, "pin CPUS", "change the own affinity"},
    {"exit", CUSTOM_EXIT, ARGS_NONE, "exit", "end the task"},
};
const size_t custom_words_n = WB_ARRAY_SIZE(custom_words);

const struct custom_word *custom_word_find(const char *word, size_t len)
{
    for (size_t i = 0; i < custom_words_n; i++)
        if (strlen(custom_words[i].word) == len && !memcmp(custom_words[i].word, word, len)) return &custom_words[i];
    return NULL;
}
