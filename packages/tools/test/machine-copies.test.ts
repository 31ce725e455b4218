import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { BDF, ORIGINAL, SERIAL, Tree } from './binding/tree.js'
import { gpunvme, json, scratch } from './gpunvme.js'

// A copy of a machine, as given to --root, is untrusted. These trees have no kernel.

let tree: Tree
let outside = ''
beforeEach(() => {
  tree = new Tree()
  outside = join(scratch(), 'outside')
  writeFileSync(outside, 'a secret line\n')
})

const SERIAL_FILE = `sys/bus/pci/devices/${BDF}/nvme/nvme0/serial`
const BOARD_FILE = 'sys/class/dmi/id/board_name'
const VERBS = [['list'], ['list', BDF], ['list', '--topology'], ['doctor'], ['bind', BDF, '--dry-run']]
const onCopy = (...[verb = '', ...rest]: readonly string[]) =>
  gpunvme([verb, '--root', tree.root, ...rest], { cwd: scratch() })

/** Creates a symbolic link, replacing an existing file. */
function link(path: string, to: string): void {
  rmSync(join(tree.root, path), { recursive: true, force: true })
  symlinkSync(to, join(tree.root, path))
}

describe.each(VERBS)('%s of a copy', (...words) => {
  test('the verb ends if /proc/swaps of a copy is a pipe', async () => {
    tree.remove('proc/swaps')
    execFileSync('mkfifo', [join(tree.root, 'proc/swaps')])
    const { code, stdout, stderr } = await onCopy(...words)
    expect(stdout + stderr).not.toContain('defect of gpunvme')
    expect(code).toBe(words[0] === 'bind' ? 4 : 0)
  })

  test.each(['proc/swaps', `run/gpunvme/${BDF}.json`, SERIAL_FILE, BOARD_FILE])(
    'the verb does not show a file outside the copy that %s links to',
    async (path) => {
      tree.file('run/gpunvme/keep', '')
      tree.file('sys/class/dmi/id/board_vendor', 'Vendor\n')
      link(path, outside)
      const { stdout, stderr } = await onCopy(...words)
      expect(stdout + stderr).not.toContain('secret')
    },
  )

  test('the verb does not read an endless device of a copy', async () => {
    tree.file('run/gpunvme/keep', '')
    for (const path of [`run/gpunvme/${BDF}.json`, 'proc/sys/kernel/random/boot_id', `${tree.device()}/power/control`])
      link(path, '/dev/zero')
    const { stdout, stderr } = await onCopy(...words)
    expect(stdout + stderr).not.toContain('defect of gpunvme')
  })

  test('the verb follows no more links than Linux does', async () => {
    tree.file('sys/class/dmi/id/board_vendor', 'Vendor\n')
    link(BOARD_FILE, 'link-1')
    for (let index = 1; index <= 40; index++)
      link(`sys/class/dmi/id/link-${index}`, index === 40 ? outside : `link-${index + 1}`)
    const { stdout, stderr } = await onCopy(...words)
    expect(stdout + stderr).not.toContain('secret')
  })
})

test.each([['list'], ['list', BDF], ['list', '--topology']])(
  '%s %s escapes texts of a record of a copy',
  async (...words) => {
    const hostile = '\u001b[31mred'
    const record = { version: 1, bdf: BDF, driver: null, previous: 'nvme', override: '', isProbed: false }
    const entry = {
      ...{ schema: 'gpunvme.binding/1', name: hostile, serial: hostile, model: hostile, bootId: null, holder: null },
      ...{ since: `2026-01-01 (${hostile})`, by: { user: hostile, command: hostile } },
      record: { ...record, powerControl: 'on', begun: [] },
    }
    tree.file(`run/gpunvme/${BDF}.json`, JSON.stringify(entry))
    tree.remove(`${tree.device()}/driver`)
    tree.remove(`${tree.device()}/nvme`)
    const { code, stdout } = await onCopy(...words)
    expect(code).toBe(0)
    expect(stdout).toContain('\\u{1b}[31mred')
    expect(stdout).not.toContain('\u001b')
  },
)

test('a link of a copy is resolved inside the copy, as on the original machine', async () => {
  tree.file('data/serial', 'LINKED\n')
  link(SERIAL_FILE, '/data/serial')
  const { drives } = json(await onCopy('list', '--json')) as { drives: object[] }
  expect(drives).toMatchObject([{ serial: 'LINKED' }])
})

test.each(['bind', 'unbind'])('%s writes nothing below a root without sysfs', async (verb) => {
  const entry = `run/gpunvme/${BDF}.json`
  tree.file(entry, '{}')
  link(`${tree.device()}/driver_override`, outside)
  link(`${entry}.new`, outside)
  const words = verb === 'bind' ? ['--serial', SERIAL, '--yes'] : []
  const { code, stderr } = await onCopy(verb, BDF, ...words)
  expect([code, stderr]).toEqual([2, expect.stringContaining('gpunvme never changes a copy of a machine')])
  expect(stderr).toContain(`Try: gpunvme ${verb} ADDRESS --dry-run --root ${tree.root}`)
  expect(readFileSync(outside, 'utf8')).toBe('a secret line\n')
  expect(readFileSync(join(tree.root, entry), 'utf8')).toBe('{}')
  expect(tree.bound()).toBe(ORIGINAL[0])
})
