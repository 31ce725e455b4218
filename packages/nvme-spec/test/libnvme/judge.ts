import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pair } from './match.js'

/** A pair with both values, as the compiler computes them. */
export interface Judged extends Pair {
  readonly values: readonly [theirs: bigint, ours: bigint]
}

export interface Sources {
  /** Lines of C that include the other header. */
  readonly theirs: string
  /** Include folders; the first one contains nvme_spec.h. */
  readonly folders: readonly string[]
}

/** A negative enumerator is a dword with bit 31 set. */
const prelude = `
#include <gpunvme/nvme_spec.h>
#include <stdio.h>
#define ONES(field) (field##_MASK >> field##_SHIFT)
#define AT(tag, member) offsetof(struct gpunvme_##tag, member)
#define SIZE(tag) sizeof(struct gpunvme_##tag)
#define BITS(tag, member) (8 * sizeof(((struct gpunvme_##tag *)0)->member))
static unsigned long long number(long long value)
{
	return value < 0 ? (unsigned)value : (unsigned long long)value;
}
static void compare(unsigned long long theirs, unsigned long long ours)
{
	printf("%llu %llu\\n", theirs, ours);
}
`

/**
 * Compiles a program that includes both headers and prints both values of every pair.
 * @throws Error with the output of the compiler if the program does not compile without warnings.
 */
export function judge(pairs: readonly Pair[], { theirs, folders }: Sources): Judged[] {
  const calls = pairs.map((pair) => `\tcompare(number((long long)(${pair.theirs})), ${inOurs(pair)});`)
  const source = `#include <stddef.h>\n${theirs}\n${prelude}int main(void)\n{\n${calls.join('\n')}\n\treturn 0;\n}\n`
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-headers-'))
  try {
    writeFileSync(join(folder, 'judge.c'), source)
    const includes = folders.map((path) => `-I${path}`)
    // Names that a later release deprecates are compared as well.
    const warnings = ['-Wall', '-Wextra', '-Werror', '-Wno-deprecated-declarations']
    run('gcc', ['-std=gnu11', ...warnings, ...includes, '-o', 'judge', 'judge.c'], folder)
    const lines = run(join(folder, 'judge'), [], folder).trimEnd().split('\n')
    return pairs.map((pair, i) => {
      const [first = '', second = ''] = lines[i]?.split(' ') ?? []
      return { ...pair, values: [BigInt(first), BigInt(second)] }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const inOurs = ({ ours }: Pair) => `(unsigned long long)(${ours})`

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (error ?? status !== 0) throw new Error(`${command} failed: ${error?.message ?? ''}${stderr.slice(0, 4000)}`)
  return stdout
}
