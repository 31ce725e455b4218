import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { simulate } from '@gpunvme/nvme-sim'
import { Controller } from '../controller.js'
import { DeviceHeldError, guardController } from './guard.js'
import { findHolders } from './holders.js'

const bdf = '0000:0b:00.0'
let root = ''

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gpunvme-holders-'))
  mounts('36 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw', '24 36 0:22 / /proc rw - proc proc rw')
  file('proc/swaps', 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n')
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

function file(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
}

function mounts(...lines: string[]): void {
  file('proc/self/mountinfo', `${lines.join('\n')}\n`)
}

/** A drive as the kernel's driver shows it: one namespace, numbered 259:0, and these partitions, from 259:1 on. */
function drive(partitions: readonly string[] = [], entry = 'nvme1n1'): string {
  const disk = 'sys/block/nvme1n1'
  mkdirSync(join(root, 'sys/bus/pci/devices', bdf, 'nvme/nvme1', entry), { recursive: true })
  for (const [index, path] of [disk, ...partitions.map((name) => `${disk}/${name}`)].entries()) {
    mkdirSync(join(root, path, 'holders'), { recursive: true })
    file(`${path}/dev`, `259:${index}\n`)
  }
  return disk
}

test('a drive that the kernel does not own has no holders', async () => {
  mkdirSync(join(root, 'sys/bus/pci/devices', bdf), { recursive: true })
  expect(await findHolders(root, bdf)).toEqual([])
})

test('a drive with partitions that nobody uses has no holders', async () => {
  drive(['nvme1n1p1', 'nvme1n1p2'])
  expect(await findHolders(root, bdf)).toEqual([])
})

test('a mounted partition, swap and device-mapper members are found', async () => {
  const disk = drive(['nvme1n1p1', 'nvme1n1p2', 'nvme1n1p3'])
  mounts(
    '40 36 259:1 / /home rw - ext4 /dev/disk/by-uuid/0c1d rw',
    '41 36 259:10 / /other rw - ext4 /dev/nvme1n1p10 rw',
  )
  file('proc/swaps', 'Filename\t\tType\n/dev/nvme1n1p2          partition\t8000000\t0\t-2\n')
  mkdirSync(join(root, disk, 'nvme1n1p3/holders/dm-0'))
  expect(await findHolders(root, bdf)).toEqual([
    { device: 'nvme1n1p1', use: 'mounted on /home' },
    { device: 'nvme1n1p2', use: 'swap' },
    { device: 'nvme1n1p3', use: 'held by dm-0' },
  ])
})

test('a whole namespace in an md array is found', async () => {
  const disk = drive()
  mkdirSync(join(root, disk, 'holders/md127'))
  expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1', use: 'held by md127' }])
})

test('a file system that has no device number of its own is found by name', async () => {
  drive(['nvme1n1p1'])
  mounts('42 36 0:45 / /data rw - btrfs /dev/nvme1n1p1 rw')
  expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'mounted on /data' }])
})

test('with native multipath, what the head of the drive is used for counts', async () => {
  drive(['nvme1n1p1'], 'nvme1c0n1')
  mounts('42 36 259:1 / / rw - ext4 /dev/root rw')
  expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'mounted on /' }])
})

test('a drive in use is not even opened for reading, since that would reset it', async () => {
  drive(['nvme1n1p1'])
  mounts('42 36 259:1 / / rw - ext4 /dev/nvme1n1p1 rw')
  const { transport } = simulate()
  const before = transport.bar.read32(0x14)
  const refusal = Controller.open({ ...transport, bdf }, { sysRoot: root })
  await expect(refusal).rejects.toThrow(DeviceHeldError)
  await expect(refusal).rejects.toThrow('nvme1n1p1 is mounted on /')
  expect(transport.bar.read32(0x14)).toBe(before)
})

test('the guard has nothing to look up for a transport that is not on the bus', async () => {
  await expect(guardController('/nonexistent', {})).resolves.toBeUndefined()
})
