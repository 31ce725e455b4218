import { spawnSync } from 'node:child_process'

/**
 * Returns why this compiler cannot compile programs that use the C library and Linux, preceded by the kind of the
 * missing requirement in brackets; undefined if it can.
 */
export function missingForC(compiler: 'cc' | 'gcc' | 'g++'): string | undefined {
  const input = '#include <stdio.h>\n#include <stdint.h>\n#include <linux/ioctl.h>\n'
  const probe = spawnSync(compiler, ['-E', '-x', 'c', '-'], { input })
  if (probe.error) return `[headers] ${compiler} is not installed`
  return probe.status === 0 ? undefined : '[headers] libc6-dev is not installed'
}
