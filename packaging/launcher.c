/* `bin/gapstone` of the package: finds the folder of the package through links, says in one line what it cannot run on,
   and runs the Node that lies beside it. Written in C, as a root with glibc alone has no shell. It uses nothing that glibc 2.17
   lacks, so that the line is said where Node could not be loaded. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { oldest_minor = 34 };

static void fail(const char *format, const char *first, const char *second) {
  dprintf(2, "gapstone: ");
  dprintf(2, format, first, second);
  dprintf(2, "\n");
  _exit(1);
}

static char *join(const char *first, const char *second) {
  char *joined = malloc(strlen(first) + strlen(second) + 1);
  if (joined == NULL) fail("no memory is left", "", "");
  return strcat(strcpy(joined, first), second);
}

static void refuse_old_glibc(void) {
  int major = 0, minor = 0;
  const char *version = gnu_get_libc_version();
  sscanf(version, "%d.%d", &major, &minor);
  if (major < 2 || (major == 2 && minor < oldest_minor))
    fail("this package needs glibc 2.34 or later (RHEL 9, Debian 12); this system has glibc %s", version, "");
}

int main(int count, char **arguments) {
  refuse_old_glibc();
  char *home = realpath((const char *)getauxval(AT_EXECFN), NULL);
  if (home == NULL) fail("its own folder cannot be found: %s", strerror(errno), "");
  for (int folder = 0; folder < 2; folder++)
    if (strrchr(home, '/') != NULL) *strrchr(home, '/') = '\0';

  setenv("LD_LIBRARY_PATH", join(home, "/lib"), 1);
  setenv("NODE_ENV", "production", 1);
  char *node = join(home, "/bin/node");
  char **next = calloc((size_t)count + 3, sizeof *next);
  if (next == NULL) fail("no memory is left", "", "");
  next[0] = node;
  /* V8 would let young objects fill 64 MB before it looks at them. */
  next[1] = "--max-semi-space-size=16";
  next[2] = join(home, "/dist/src/cli.js");
  for (int index = 1; index < count; index++) next[index + 2] = arguments[index];
  execv(node, next);
  fail("%s cannot be run: %s", node, strerror(errno));
}

/* In the place of libc's start file, which asks for glibc 2.34. The dynamic loader has prepared libc by then. */
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov (%rsp), %rdi\n  lea 8(%rsp), %rsi\n  and $-16, %rsp\n"
        "  call main\n  mov %eax, %edi\n  call _exit\n");
