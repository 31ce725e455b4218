import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { findNamespace } from './block-device.js'

const root = scratch()

/** Creates a controller in sysfs. Entries with a number have a file nsid. */
function controller(name: string, entries: Readonly<Record<string, number | undefined>>): void {
  for (const [entry, nsid] of Object.entries(entries)) {
    const folder = join(root, 'class/nvme', name, entry)
    mkdirSync(folder, { recursive: true })
    if (nsid !== undefined) writeFileSync(join(folder, 'nsid'), `${nsid}\n`)
  }
}

test('findNamespace uses the NSID, not the device name', () => {
  controller('nvme1', { nvme1n2: 1, nvme1n1: 7, power: undefined, hwmon3: undefined })
  expect(findNamespace(root, 'nvme1', undefined)).toEqual({ name: 'nvme1n2', nsid: 1 })
  expect(findNamespace(root, 'nvme1', 7)).toEqual({ name: 'nvme1n1', nsid: 7 })
})

test('findNamespace returns the device of the subsystem with multipathing', () => {
  controller('nvme3', { nvme2c3n1: 1 })
  expect(findNamespace(root, 'nvme3', 1)).toEqual({ name: 'nvme2n1', nsid: 1 })
})

test('findNamespace reports a namespace without a block device', () => {
  controller('nvme4', { power: undefined })
  expect(() => findNamespace(root, 'nvme4', undefined)).toThrow('no block device of any namespace of nvme4')
  expect(() => findNamespace(root, 'nvme1', 2)).toThrow('no block device of namespace 2 of nvme1')
})
