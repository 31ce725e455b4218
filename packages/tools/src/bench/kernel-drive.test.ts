import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { findNamespace } from './kernel-drive.js'

const root = scratch()

/** A controller as Linux shows it, with entries that have a file nsid where one is given. */
function controller(name: string, entries: Readonly<Record<string, number | undefined>>): void {
  for (const [entry, nsid] of Object.entries(entries)) {
    const folder = join(root, 'class/nvme', name, entry)
    mkdirSync(folder, { recursive: true })
    if (nsid !== undefined) writeFileSync(join(folder, 'nsid'), `${nsid}\n`)
  }
}

test('the namespace is found by its number, not by the name of its device', () => {
  controller('nvme1', { nvme1n2: 1, nvme1n1: 7, power: undefined, hwmon3: undefined })
  expect(findNamespace(root, 'nvme1', undefined)).toEqual({ name: 'nvme1n2', nsid: 1 })
  expect(findNamespace(root, 'nvme1', 7)).toEqual({ name: 'nvme1n1', nsid: 7 })
})

test('with multipathing the device is that of the subsystem', () => {
  controller('nvme3', { nvme2c3n1: 1 })
  expect(findNamespace(root, 'nvme3', 1)).toEqual({ name: 'nvme2n1', nsid: 1 })
})

test('a namespace that Linux shows no device of is said', () => {
  controller('nvme4', { power: undefined })
  expect(() => findNamespace(root, 'nvme4', undefined)).toThrow('no block device of any namespace of nvme4')
  expect(() => findNamespace(root, 'nvme1', 2)).toThrow('no block device of namespace 2 of nvme1')
})
