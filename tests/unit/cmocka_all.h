/* cmocka's header needs these four first. */
#ifndef SBOX_TESTS_CMOCKA_ALL_H
#define SBOX_TESTS_CMOCKA_ALL_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#endif
