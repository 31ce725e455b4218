import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { missingHeaders, missingTools } from '../tools.js'

const KMOD = join(import.meta.dirname, '../../../../kmod')
const SPEC = join(import.meta.dirname, '../../../nvme-spec/include')

function run(command: string, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
  return error ? { status: null, output: error.message } : { status, output: stdout + stderr }
}

/** Kernel releases whose headers are installed. */
const releases = (existsSync('/usr/src') ? readdirSync('/usr/src') : []).flatMap(
  (name) => /^linux-headers-(.*-amd64)$/.exec(name)?.[1] ?? [],
)

/** Returns why no module can be built on this machine, as the note of a skipped test; undefined if one can. */
function missingForKbuild(): string | undefined {
  if (releases.length === 0) return '[kbuild] linux-headers-amd64 is not installed'
  const missing = missingTools('make', 'gcc', 'nm', 'sed', 'awk')
  return missing && `[kbuild] ${missing}`
}
const missing = missingForKbuild()

/** Copies the sources of DKMS to a new folder. Returns the folder. */
function sources(): string {
  const folder = scratch()
  const { status, output } = run('make', '-s', '-C', KMOD, 'dkms-tree', `TO=${folder}`)
  expect(status, output).toBe(0)
  return folder
}

describe('the module gpunvme', () => {
  test('compiles without warnings for all kernels whose headers are installed', { timeout: 300_000 }, ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    for (const release of releases) {
      const folder = sources()
      const { status, output } = run('make', '-C', folder, `KDIR=/usr/src/linux-headers-${release}`, 'GPUNVME_WERROR=y')
      expect(status, output).toBe(0)
      expect(output.split('\n').filter((line) => /: warning: |^WARNING: |undefined!/.test(line))).toEqual([])
      const module = readFileSync(join(folder, 'gpunvme.ko'))
      // The strings of modinfo, from the section .modinfo, end in NUL.
      const facts = module.toString('latin1').split('\0')
      expect(facts).toEqual(expect.arrayContaining(['license=GPL', 'depends=', 'name=gpunvme']))
      // A device alias would load the module for every NVMe controller.
      expect(facts.filter((fact) => fact.startsWith('alias='))).toEqual([])
      const { output: symbols } = run('nm', '-u', join(folder, 'gpunvme.ko'))
      expect(symbols).toMatch(/\bpin_user_pages_fast\b/)
      expect(symbols).not.toMatch(/nvidia|\bnv_|\brm_/i)
    }
  })

  test('compiler warnings are errors only in tests', { timeout: 60_000 }, ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const folder = sources()
    appendFileSync(join(folder, 'power.c'), 'static void unused(void)\n{\n}\n')
    const build = ['-C', `/usr/src/linux-headers-${releases[0]!}`, `M=${folder}`, 'power.o']
    const shipped = run('make', ...build)
    expect(shipped.output).toMatch(/warning: .unused. defined but not used/)
    expect(shipped.status, shipped.output).toBe(0)
    const strict = run('make', ...build, 'GPUNVME_WERROR=y')
    expect(strict.output).toMatch(/error: .unused. defined but not used/)
    expect(strict.status).not.toBe(0)
  })

  test('the probe fails with an error if nothing compiles', { timeout: 60_000 }, ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const { status, output } = run('sh', join(KMOD, 'scripts/probe.sh'), 'gcc -nostdinc')
    expect(status).toBe(1)
    expect(output).toContain('the compiler fails with the headers of this kernel')
  })

  test('dkms.conf has the version of the module, and Kbuild lists each source file', () => {
    const conf = readFileSync(join(KMOD, 'dkms.conf'), 'utf8')
    const version = /^MODULE_VERSION\("(.*)"\);$/m.exec(readFileSync(join(KMOD, 'main.c'), 'utf8'))?.[1]
    expect(conf).toContain(`PACKAGE_VERSION="${version}"`)
    const objects = readFileSync(join(KMOD, 'Kbuild'), 'utf8').match(/\b[a-z]+\.o\b/g)
    const files = readdirSync(KMOD).filter((name) => /^[a-z]+\.c$/.test(name))
    expect(objects?.filter((name) => name !== 'gpunvme.o').sort()).toEqual(
      files.map((name) => name.replace('.c', '.o')).sort(),
    )
  })

  const compilers = [
    ['C11', 'gcc', 'c'],
    ['C++17', 'g++', 'c++'],
  ] as const
  test.for(compilers)(
    'has a user-space header that can be included with that of nvme-spec: %s, %s',
    { timeout: 60_000 },
    ([standard, compiler, language], { skip }) => {
      const missing = missingHeaders(compiler, language, ['stdint.h', 'linux/types.h', 'linux/ioctl.h'])
      if (missing !== undefined) return skip(`[headers] ${missing}`)
      const flags = [`-std=${standard.toLowerCase()}`, '-x', language]
      const file = join(scratch(), 'includes.c')
      writeFileSync(file, '#include <gpunvme_ioctl.h>\n#include <gpunvme/nvme_spec.h>\nint main(void) { return 0; }\n')
      const strict = ['-pedantic', '-Wall', '-Wextra', '-Werror', '-fsyntax-only']
      const { status, output } = run(compiler, ...flags, ...strict, `-I${join(KMOD, 'uapi')}`, `-I${SPEC}`, file)
      expect(status, output).toBe(0)
    },
  )
})
