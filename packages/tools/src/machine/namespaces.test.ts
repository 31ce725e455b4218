import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { machines } from '../../test/machines/index.js'
import { rootOf } from '../../test/machines/read-described.js'
import { readNamespaces } from './namespaces.js'
import { Root } from './root.js'
import { writeLiveTree } from './save.js'

const rigRoot = () => rootOf(machines.find(({ name }) => name === 'amd-b450-rtx3090')!)
const read = (root: string, name: string, bdf: string) =>
  readNamespaces(new Root(root), `sys/bus/pci/devices/${bdf}/nvme/${name}`)

test('readNamespaces reads partitions from sysfs, and formats from udev records', async () => {
  const [namespace] = await read(await rigRoot(), 'nvme1', '0000:0b:00.0')
  expect(namespace).toMatchObject({
    name: 'nvme1n1',
    format: 'gpt',
    partitions: [
      // The record of this one also has a partition table: the boot sector of FAT resembles one.
      { name: 'nvme1n1p1', sizeBytes: 100 * 2 ** 30, format: 'vfat' },
      { name: 'nvme1n1p2', format: { unknown: expect.stringMatching(/has no format$/) as string } },
      { name: 'nvme1n1p3', format: 'ntfs' },
      { name: 'nvme1n1p4', format: 'ext4' },
    ],
  })
})

test('a device without a udev record has an unknown format', async () => {
  const [namespace] = await read(await rigRoot(), 'nvme0', '0000:01:00.0')
  const missing = { unknown: expect.stringMatching(/^there is no \/run\/udev\/data\/b259:\d+$/) as string }
  expect(namespace).toMatchObject({ format: missing, partitions: [{ format: missing }, { format: missing }] })
})

test('a copy of the machine has only the formats of udev records', async () => {
  const [from, into] = [await rigRoot(), join(scratch(), 'copy')]
  await writeLiveTree(from, into)
  expect(await read(into, 'nvme1', '0000:0b:00.0')).toEqual(await read(from, 'nvme1', '0000:0b:00.0'))
  const number = readFileSync(join(into, 'sys/block/nvme1n1/dev'), 'utf8').trim()
  expect(readFileSync(join(into, `run/udev/data/b${number}`), 'utf8')).toBe('E:ID_PART_TABLE_TYPE=gpt\n')
})
