/* Functions whose misuse is a known source of faults: using one is a compile error.
 * Included by every .c file through base/error.h. The habit is git's banned.h. */
#ifndef SBOX_BASE_BANNED_H
#define SBOX_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets strtok atoi atol atoll
#pragma GCC poison system popen mktemp tmpnam tempnam

#endif
