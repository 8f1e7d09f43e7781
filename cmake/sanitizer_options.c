/* Linked into sbox-proxy by sanitizer builds alone: it gets no environment, and a quarantine of 256 MB
 * would hide from a test whether its memory is bounded. Leaks cannot be looked for where no process
 * may be traced. https://github.com/google/sanitizers/wiki/AddressSanitizerFlags */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}
