// After all suites: how many tests passed and failed, and which were skipped and why.
//
// A test that is skipped for want of a program or a device says so, with the kind of what is missing in brackets before
// the reason: as the note of `skip('[mkfs] mkfs.xfs is not installed')`, or in its title or its group's, as
// `(skipped: [qemu] qemu-system-x86_64 is not installed)`. GPUNVME_REQUIRE=qemu,browser turns skips of these kinds into
// failures; where QEMU and a browser are known to be, as in CI, it is set. A skip for another reason - root may read
// every file - has no kind, and is never a failure.
//
// Reports are those of `npm test`, or the ones given as arguments, by their paths from the root.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a test may want that a machine may not have. */
const kinds = {
  native: "cuda-native's addon",
  qemu: "QEMU's NVMe controller",
  vm: 'a Linux guest in QEMU',
  browser: 'a headless Chromium',
  mkfs: 'programs that make partitions and file systems',
  headers: 'a C compiler, and the headers of libnvme and of Linux',
  kbuild: 'the headers that modules of the Linux kernel are built with',
  cuda: "NVIDIA's compiler of CUDA, nvcc",
  'nvme-cli': 'the program nvme',
  shells: 'bash, zsh and fish',
  pciutils: 'the program lspci',
  unpackers: 'the programs xz, zstd and modinfo',
  fio: 'the program fio',
}

const root = join(import.meta.dirname, '..')
const suites = [root, ...readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))]
const given = process.argv.slice(2).map((path) => join(root, path))
const paths = given.length > 0 ? given : suites.map((suite) => join(suite, '.reports', 'tests.json'))
const reports = paths.map((path) => {
  if (!existsSync(path)) throw new Error(`${path} is missing: did its tests run?`)
  return JSON.parse(readFileSync(path, 'utf8'))
})

const sum = (of) => reports.reduce((total, report) => total + of(report), 0)
const passed = sum((report) => report.passed)
const failed = sum((report) => report.failed)
const skipped = reports.flatMap((report) => report.skipped)

for (const name of skipped) console.log(`skipped: ${name}`)
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`)

const known = `known are\n${Object.entries(kinds)
  .map(([kind, what]) => `  ${kind}: ${what}`)
  .join('\n')}`
const required = (process.env.GPUNVME_REQUIRE ?? '').split(',').filter((kind) => kind !== '')
const kindOf = (name) => /\((?:skipped: )?\[([a-z-]+)\] /.exec(name)?.[1]
const problems = [
  ...required
    .filter((kind) => !Object.hasOwn(kinds, kind))
    .map((kind) => `GPUNVME_REQUIRE: expected kinds of skips, got ${JSON.stringify(kind)}; ${known}`),
  ...skipped.flatMap((name) => {
    const kind = kindOf(name)
    if (kind === undefined) return []
    if (!Object.hasOwn(kinds, kind)) return [`a skip of an unknown kind: ${name}; ${known}`]
    return required.includes(kind) ? [`GPUNVME_REQUIRE=${kind} (${kinds[kind]}), but skipped: ${name}`] : []
  }),
]
for (const problem of problems) console.error(problem)
process.exitCode = failed > 0 || passed === 0 || problems.length > 0 ? 1 : 0
