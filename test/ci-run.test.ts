import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

/** `.ci/run` alone in a folder, with programs in the place of those that would build, test, download and install. */
describe('.ci/run', () => {
  let folder: string
  let programs: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpunvme-ci-run-'))
    programs = join(folder, 'programs')
    for (const each of ['.ci', 'programs']) mkdirSync(join(folder, each))
    copyFileSync(join(import.meta.dirname, '../.ci/run'), join(folder, '.ci/run'))
    program('npm', 'echo "npm $*" >> "$LOG"; [ "$*" != "$FAILS" ]')
    for (const name of ['apt-get', 'qemu-system-x86_64', 'xz']) program(name, 'exit 0')
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  const program = (name: string, code: string) =>
    writeFileSync(join(programs, name), `#!/bin/sh\n${code}\n`, { mode: 0o755 })

  /** What it had npm do; throws where it fails. */
  function run(environment: Record<string, string> = {}): string[] {
    const log = join(folder, 'log')
    rmSync(log, { force: true })
    const PATH = `${programs}:${process.env['PATH']}`
    // execFileSync leaves out what is undefined.
    const inherited = { ...process.env, GPUNVME_REQUIRE: undefined }
    const env = { ...inherited, PATH, LOG: log, FAILS: '', ...environment }
    execFileSync('bash', [join(folder, '.ci/run')], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    return readFileSync(log, 'utf8').trim().split('\n')
  }

  test('the guest is run when it is among the judges that are required', () => {
    for (const required of ['vm', 'native,vm', 'native,qemu,vm,mkfs,headers'])
      expect(run({ GPUNVME_REQUIRE: required })).toEqual(['npm run demo', 'npm test', 'npm run test:vm'])
  })

  test('the guest is not run when nobody asks for it', () => {
    expect(run()).toEqual(['npm run demo', 'npm test'])
  })

  test('the guest is not run when it is not required', () => {
    expect(run({ GPUNVME_REQUIRE: 'native,vmx,nvme-cli' })).toEqual(['npm run demo', 'npm test'])
  })

  test('what fails in the guest fails the run', () => {
    expect(() => run({ GPUNVME_REQUIRE: 'vm', FAILS: 'run test:vm' })).toThrow()
  })
})
