import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { root } from './packages.js'
import { scratch } from './scratch.js'

/** Allows for a busy machine. */
const LIMIT_MS = 300_000

const typedoc = join(root, 'node_modules', 'typedoc', 'bin', 'typedoc')
const folder = join(scratch(), 'site')
let built: { status: number | null; printed: string }

beforeAll(() => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [typedoc, '--out', folder, '--logLevel', 'Warn'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  built = { status, printed: stdout + stderr }
}, LIMIT_MS)

/** Returns the text of a page of the documentation, with one line for each table row. */
function page(path: string): string {
  const html = readFileSync(join(folder, path), 'utf8')
  return html
    .replace(/<\/t[dh]>\s*/g, ' ')
    .replace(/<\/(tr|p)>/g, '\n')
    .replace(/<[^>]+>/g, '')
}

test('the site of all packages and docs/ builds without a warning: nothing undocumented, no broken link', () => {
  expect(built).toEqual({ status: 0, printed: '' })
})

test('the site contains the pages of docs/ under their titles, and the pages of the packages', () => {
  expect(page('documents/Tiers.html')).toContain('A tier says where the queues are')
  expect(page('documents/_gpunvme_nvme-spec.html')).toContain('@gpunvme/nvme-spec')
})

test('a declaration is documented with its place, its rows, their values and its source', () => {
  const text = page('variables/_gpunvme_nvme-spec.CC.html')
  expect(text).toContain('Offset 14h of the registers, access rw; 32 bits. Source: Base 2.1 §3.1.4.5.\n')
  expect(text).toContain('15:14 SHN Shutdown Notification; NONE 0, NORMAL 1, ABRUPT 2')
})

test('a command is documented with its opcode, its direction and the places of its fields', () => {
  const text = page('variables/_gpunvme_nvme-spec.Read.html')
  expect(text).toContain('Opcode 02h of command set nvm, data transfer controller-to-host. Source: NVM 1.2 §3.3.4.\n')
  expect(text).toContain("12, 15:0 NLB Number of Logical Blocks; 0's based")
})

test('a structure is documented with its length, and the bits of its fields', () => {
  const text = page('variables/_gpunvme_nvme-spec.IdentifyController.html')
  expect(text).toContain('4096 bytes. Source: Base 2.1 §5.1.13.2.1.\n')
  expect(text).toContain('257:256 OACS Optional Admin Command Support')
  expect(text).toContain('bit 1 OACS.FNVMS Format NVM Supported')
})
