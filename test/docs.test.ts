import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { root } from './packages.js'
import { scratch } from './scratch.js'

/** Of a machine that has other things to do. */
const LIMIT_MS = 300_000

const typedoc = join(root, 'node_modules', 'typedoc', 'bin', 'typedoc')
const out = scratch()
const [spec, simulator] = [made(), made('--options', 'packages/nvme-sim/typedoc.json')]

/** Makes the documentation of a package; nvme-spec's where no other is named. */
function made(...options: string[]) {
  let result: { status: number | null; said: string }
  const folder = join(out, String(options.length))
  beforeAll(() => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [typedoc, ...options, '--out', folder, '--logLevel', 'Warn'],
      { cwd: root, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
    )
    result = { status, said: stdout + stderr }
  }, LIMIT_MS)
  return { folder, ended: () => result }
}

/** The text of a page of the documentation, a line for each row of a table. */
function page(path: string): string {
  const html = readFileSync(join(spec.folder, path), 'utf8')
  return html
    .replace(/<\/t[dh]>\s*/g, ' ')
    .replace(/<\/(tr|p)>/g, '\n')
    .replace(/<[^>]+>/g, '')
}

test.each([
  ['nvme-spec and docs/', spec],
  ['nvme-sim', simulator],
])('the documentation of %s is made without a warning: nothing undocumented, no broken link', (_, { ended }) => {
  expect(ended()).toEqual({ status: 0, said: '' })
})

test('the site has the pages of docs/ by their titles, and those of packages', () => {
  expect(page('documents/Tiers.html')).toContain('A tier says where the queues are')
  expect(page('documents/_gpunvme_nvme-spec.html')).toContain('@gpunvme/nvme-spec')
})

test('a declaration is documented with its place, its rows, their values and its source', () => {
  const text = page('variables/index.CC.html')
  expect(text).toContain('Offset 14h of the registers, access rw; 32 bits. Source: Base 2.1 §3.1.4.5.\n')
  expect(text).toContain('15:14 SHN Shutdown Notification; NONE 0, NORMAL 1, ABRUPT 2')
})

test('a command is documented with its opcode, its direction and the places of its fields', () => {
  const text = page('variables/index.Read.html')
  expect(text).toContain('Opcode 02h of command set nvm, data transfer controller-to-host. Source: NVM 1.2 §3.3.4.\n')
  expect(text).toContain("12, 15:0 NLB Number of Logical Blocks; 0's based")
})

test('a structure is documented with its length, and the bits of its fields', () => {
  const text = page('variables/index.IdentifyController.html')
  expect(text).toContain('4096 bytes. Source: Base 2.1 §5.1.13.2.1.\n')
  expect(text).toContain('257:256 OACS Optional Admin Command Support')
  expect(text).toContain('bit 1 OACS.FNVMS Format NVM Supported')
})
