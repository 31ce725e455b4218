import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DeviceHeldError, guardController } from './guard.js'
import { findHolders } from './holders.js'

const bdf = '0000:0b:00.0'
let root = ''

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gpunvme-holders-'))
  file('proc/self/mounts', 'proc /proc proc rw 0 0\n/dev/sda1 / ext4 rw 0 0\n')
  file('proc/swaps', 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n')
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

function file(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** A drive as the kernel's driver shows it: one namespace with these partitions. */
function drive(...partitions: string[]): string {
  const disk = join('sys/bus/pci/devices', bdf, 'nvme/nvme1/nvme1n1')
  for (const name of ['holders', 'queue', ...partitions.map((partition) => `${partition}/holders`)]) {
    mkdirSync(join(root, disk, name), { recursive: true })
  }
  return disk
}

test('a drive that the kernel does not own has no holders', async () => {
  mkdirSync(join(root, 'sys/bus/pci/devices', bdf), { recursive: true })
  expect(await findHolders(root, bdf)).toEqual([])
})

test('a drive with partitions that nobody uses has no holders', async () => {
  drive('nvme1n1p1', 'nvme1n1p2')
  expect(await findHolders(root, bdf)).toEqual([])
})

test('a mounted partition, swap and device-mapper members are found', async () => {
  const disk = drive('nvme1n1p1', 'nvme1n1p2', 'nvme1n1p3')
  file('proc/self/mounts', '/dev/nvme1n1p1 /home ext4 rw 0 0\n/dev/nvme1n1p10 /other ext4 rw 0 0\n')
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

test('the guard refuses a drive in use, and names the use', async () => {
  drive('nvme1n1p1')
  file('proc/self/mounts', '/dev/nvme1n1p1 / ext4 rw 0 0\n')
  const refusal = guardController(root, { bdf })
  await expect(refusal).rejects.toThrow(DeviceHeldError)
  await expect(refusal).rejects.toThrow('nvme1n1p1 is mounted on /')
})

test('the guard has nothing to look up for a transport that is not on the bus', async () => {
  await expect(guardController('/nonexistent', {})).resolves.toBeUndefined()
})
