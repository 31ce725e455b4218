import { expect, test } from 'vitest'
import { drive, facts, withFunction, DRIVE } from '../../../test/doctor/facts.js'
import { unknown } from '../../machine/known.js'
import type { Drive } from '../../machine/machine.js'
import { checkDrives } from './drives.js'

const about = (changes: Partial<Drive>) => checkDrives(facts({ machine: { drives: [drive(changes)] } }))
const use = (...holders: [device: string, use: string][]) =>
  about({ holders: holders.map(([device, by]) => ({ device, use: by })) })[0]!

test('an unused drive is ok', () => {
  expect(about({})).toMatchObject([
    { id: 'drive-unused', severity: 'ok', opens: ['memory'] },
    { id: 'drive-cool', severity: 'ok' },
    { id: 'namespace', title: 'nvme1n1: 477 GiB in blocks of 512 B, up to 1 MiB per command' },
    { id: 'host-memory-buffer', severity: 'ok' },
  ])
})

test('an unused drive with data is a note with its partitions', () => {
  const namespace = { name: 'nvme1n1', sizeBytes: 4096, blockBytes: 512, maxTransferBytes: undefined, format: 'gpt' }
  const partitions = ['ntfs', 'ext4'].map((format, index) => ({ name: `nvme1n1p${index + 1}`, sizeBytes: 512, format }))
  expect(about({ namespaces: [{ ...namespace, partitions }] })[0]).toMatchObject({
    ...{ id: 'drive-unused', severity: 'note', opens: ['memory'] },
    title: '0000:0b:00.0 (WD SN740, nvme1) is not in use, 2 partitions: ntfs, ext4',
  })
  expect(about({})[0]?.title).toBe('0000:0b:00.0 (WD SN740, nvme1) is not in use, contents unknown')
})

test('a system drive is a blocker without steps', () => {
  for (const [device, by] of [
    ['nvme1n1p2', 'mounted on /'],
    ['nvme1n1p1', 'mounted on /boot/efi'],
    ['nvme1n1p3', "held by dm-0 (LUKS 'cryptroot'), mounted on /"],
    ['nvme1n1p3', 'held by dm-0 (LVM), dm-1 mounted on /var'],
  ] as const)
    expect(use([device, by])).toMatchObject({
      id: 'drive-is-system',
      severity: 'blocker',
      steps: [],
      closes: ['memory'],
    })
})

test('a drive with mounts and swap is a blocker with one command for each', () => {
  expect(use(['nvme1n1p1', 'mounted on /mnt/models'], ['nvme1n1p2', 'swap'])).toMatchObject({
    id: 'drive-in-use',
    severity: 'blocker',
    steps: [
      { kind: 'command', action: 'sudo umount /mnt/models' },
      { kind: 'command', action: 'sudo swapoff /dev/nvme1n1p2' },
    ],
  })
  expect(use(['nvme1n1', 'open in qemu (4711)']).steps).toMatchObject([{ kind: 'hands' }])
})

test('a drive in use is a note if another drive is free', () => {
  const busy = drive({ holders: [{ device: 'nvme1n1p1', use: 'mounted on /mnt' }] })
  const drives = [busy, drive({ address: '0000:0c:00.0', name: 'nvme2' })]
  expect(checkDrives(facts({ machine: { drives } }))[0]).toMatchObject({ id: 'drive-in-use', severity: 'note' })
})

test('a drive with unknown use is unknown and closes memory', () => {
  expect(about({ holders: unknown('needs root: /proc/1/mounts') })[0]).toMatchObject({
    severity: 'unknown',
    closes: ['memory'],
  })
})

test('a drive used by a program is a note, and so is the system drive beside it', () => {
  const busy = drive({ holders: [{ device: DRIVE, use: 'driven from user space: /dev/gpunvme0 is open' }] })
  const system = drive({ address: '0000:0c:00.0', holders: [{ device: 'nvme2n1p1', use: 'mounted on /' }] })
  const found = checkDrives(facts({ machine: { drives: [busy, system] } }))
  expect(found.find(({ id }) => id === 'drive-driven')).toMatchObject({ severity: 'note', closes: ['memory'] })
  expect(found.find(({ id }) => id === 'drive-is-system')).toMatchObject({ severity: 'note' })
})

test('a hot drive is a note below its warning temperature, and a problem at it', () => {
  const at = (celsius: number) =>
    about({ temperature: { celsius, warningCelsius: 84, criticalCelsius: 88 } }).find(({ id }) => id === 'drive-hot')
  expect([at(60), at(75)?.severity, at(84)?.severity]).toEqual([undefined, 'note', 'problem'])
})

test('dead controllers, missing namespaces and missing FLR are reported', () => {
  const dead = about({ state: 'dead', namespaces: [] })
  expect(dead.find(({ id }) => id === 'drive-not-live')).toMatchObject({ closes: ['memory'] })
  expect(dead.map(({ id }) => id)).not.toContain('no-namespace')
  expect(about({ state: 'resetting' }).find(({ id }) => id === 'drive-not-live')).toMatchObject({ closes: [] })
  expect(about({ namespaces: [] }).map(({ id }) => id)).toContain('no-namespace')
  const machine = withFunction(DRIVE, { hasFunctionLevelReset: false })
  expect(checkDrives(facts({ machine })).map(({ id }) => id)).toContain('no-function-reset')
})
