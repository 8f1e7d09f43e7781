/* sbox's own words: one line on stderr, "sbox: ...". Only cli and the sandbox's supervisor speak;
 * libraries return errors. -q silences notes, -v adds details. */
#ifndef SBOX_BASE_LOG_H
#define SBOX_BASE_LOG_H

enum sbox_log_level { SBOX_LOG_QUIET = -1, SBOX_LOG_NORMAL = 0, SBOX_LOG_VERBOSE = 1 };

void sbox_log_level_set(enum sbox_log_level level);
enum sbox_log_level sbox_log_level_get(void);

/* Always printed. Written by one write(2), so that lines of two processes do not mix. */
void sbox_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Printed unless -q. */
void sbox_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Printed with -v. */
void sbox_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
