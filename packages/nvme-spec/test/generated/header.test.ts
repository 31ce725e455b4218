import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { missingForC } from '../../../../test/c-compiler.js'
import { scratch } from '../../../../test/scratch.js'
import { judges } from './judge.js'

const packageRoot = join(import.meta.dirname, '..', '..')
const include = join(packageRoot, 'include')
const header = readFileSync(join(include, 'gpunvme', 'nvme_spec.h'), 'utf8')
const program = readFileSync(join(include, 'gpunvme', 'nvme_spec_check.c'), 'utf8')

const warnings = ['-Wall', '-Wextra', '-Werror']
const compilers = [
  ['C11', 'gcc', ['-std=c11', '-pedantic', ...warnings]],
  ['C++17', 'g++', ['-x', 'c++', '-std=c++17', '-pedantic', ...warnings]],
  ['CUDA', 'nvcc', ['-x', 'cu', '-std=c++17', '-Xcompiler', warnings.join(','), '-Werror', 'all-warnings']],
] as const

function run(command: string, args: readonly string[], cwd?: string) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  return { status: error ? undefined : status, stdout, output: error ? error.message : stdout + stderr }
}

const has = (command: string) => run(command, ['--version']).status === 0
const missingC = missingForC('gcc')
/** nvcc requires g++ and its headers. */
const missingNvcc = has('nvcc') ? missingForC('g++') : '[cuda] nvcc is not installed'

/** Compiles and runs the check program in a temporary folder, with an optionally changed header. */
function check(compiler: string, flags: readonly string[], changed = header) {
  const directory = scratch()
  writeFileSync(join(directory, 'nvme_spec.h'), changed)
  writeFileSync(join(directory, 'nvme_spec_check.c'), program)
  const compiled = run(compiler, [...flags, '-o', 'check', 'nvme_spec_check.c'], directory)
  return compiled.status === 0 ? run(join(directory, 'check'), []) : compiled
}

/** Returns the disagreements of C and TypeScript: lines that differ, and lines that only one of them has. */
function differences(printed: string): string[] {
  const expected = judges()
  const found = printed
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const words = line.split(' ')
      const named = words[0] === 'doorbell' ? 4 : 2
      const key = words.slice(0, named).join(' ')
      const judge = expected.get(key)
      expected.delete(key)
      if (judge === undefined) return [`${line}: no such thing in TypeScript`]
      const numbers = words.slice(named).map((word) => BigInt(words[0] === 'sqe' ? `0x${word}` : word))
      const verdict = judge(...numbers)
      const show = (value: unknown) => (Array.isArray(value) ? value.join(' ') : String(value))
      return isDeepStrictEqual(verdict.got, verdict.expected)
        ? []
        : [`${line}: got ${show(verdict.got)}, in TypeScript ${show(verdict.expected)}`]
    })
  return [...found, ...Array.from(expected.keys(), (key) => `${key}: not in C`)]
}

describe('nvme_spec.h and the TypeScript declarations', () => {
  test.for(compilers)(
    'agree on every number, word, member and entry (%s, compiled by %s)',
    { timeout: 300_000 },
    ([, compiler, flags], { skip }) => {
      const missing = compiler === 'nvcc' ? missingNvcc : missingForC(compiler)
      if (missing !== undefined) return skip(missing)
      const { status, stdout, output } = check(compiler, flags)
      expect(status, output).toBe(0)
      expect(differences(stdout)).toEqual([])
    },
  )

  const wrong = [
    ['a mask', '#define GPUNVME_CC_MPS_MASK 0x780u', '#define GPUNVME_CC_MPS_MASK 0x700u', 'bits CC.MPS'],
    ['a named value', '#define GPUNVME_CC_CSS_IOCS 0x6u', '#define GPUNVME_CC_CSS_IOCS 0x5u', 'value CC.CSS.IOCS'],
    ['the dword of a field', '#define GPUNVME_READ_NLB_DWORD 12', '#define GPUNVME_READ_NLB_DWORD 13', 'sqe Read'],
    ['the type of a member', 'uint16_t sqhd;', 'uint8_t sqhd, pad;', 'member CQE.SQHD'],
  ] as const
  test.for(wrong)('disagree if %s is wrong', ([, right, changed, line], { skip }) => {
    if (missingC !== undefined) return skip(missingC)
    expect(header).toContain(right)
    const { status, stdout, output } = check('gcc', ['-std=c11'], header.replace(right, changed))
    expect(status, output).toBe(0)
    expect(differences(stdout).join('\n')).toMatch(new RegExp(`^${line} `, 'm'))
  })

  test('a member at a wrong offset does not compile', ({ skip }) => {
    if (missingC !== undefined) return skip(missingC)
    const changed = header.replace('uint32_t nsid;', 'uint64_t nsid;')
    expect(changed).not.toBe(header)
    const { status, output } = check('gcc', ['-std=c11'], changed)
    expect(status).not.toBe(0)
    expect(output).toContain('nsid of struct gpunvme_sqe is not at byte 4')
  })
})

test('the header is resolved by the name of the package', () => {
  const { resolve } = createRequire(import.meta.url)
  expect(resolve('@gpunvme/nvme-spec/include/gpunvme/nvme_spec.h')).toBe(join(include, 'gpunvme', 'nvme_spec.h'))
})

describe('nvme_spec.h in a kernel module', () => {
  test('compiles with Kbuild', ({ skip }) => {
    const build = kernelBuild()
    if (build === undefined) return skip('[kbuild] linux-headers-amd64 is not installed')
    for (const program of ['make', 'gcc']) if (!has(program)) return skip(`[kbuild] ${program} is not installed`)
    const directory = scratch()
    writeFileSync(join(directory, 'Makefile'), `obj-m := module.o\nccflags-y := -I${include} -Wall -Werror\n`)
    writeFileSync(join(directory, 'module.c'), kernelSource)
    const { status, output } = run('make', ['-C', build, `M=${directory}`, 'module.o'])
    expect(status, output).toBe(0)
  })
})

/** Includes only the header first, to prove it self-contained, and uses its masks with FIELD_PREP() and FIELD_GET(). */
const kernelSource = `
#include <gpunvme/nvme_spec.h>
#include <linux/bitfield.h>
#include <linux/build_bug.h>
u32 status_code(const struct gpunvme_cqe *cqe);
u32 status_code(const struct gpunvme_cqe *cqe)
{
	BUILD_BUG_ON(FIELD_PREP(GPUNVME_CC_IOSQES_MASK, 6) != GPUNVME_FIELD_PREP(GPUNVME_CC_IOSQES, 6));
	return FIELD_GET(GPUNVME_CQE_STATUS_SC_MASK, cqe->status);
}
`

/** Returns the build folder of an installed kernel header package. */
function kernelBuild(): string | undefined {
  const sources = existsSync('/usr/src') ? readdirSync('/usr/src').sort() : []
  return sources
    .filter((name) => name.startsWith('linux-headers-') && !name.endsWith('-common'))
    .map((name) => join('/usr/src', name))
    .find((folder) => existsSync(join(folder, 'scripts', 'basic')))
}
