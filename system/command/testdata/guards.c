/* What users of guards write for themselves. */
#include <stdint.h>

static uint32_t count, passed;

__attribute__((no_sanitize("coverage"))) void __sanitizer_cov_trace_pc_guard_init(uint32_t *from, uint32_t *to) {
  while (from < to && !*from) *from++ = ++count;
}

__attribute__((no_sanitize("coverage"))) void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (*guard) passed++, *guard = 0;
}
