import { expect, test } from 'vitest'
import { machines } from '../../test/machines/index.js'
import { rootOf } from '../../test/machines/read-described.js'
import type { DriveFlags } from '../command-line/options.js'
import { nameLinuxDrive, nameOpened } from './named-drive.js'
import type { OpenedTransport } from './opened-transport.js'

const opened = (name: OpenedTransport['name']) => ({ name, transport: { bdf: '0000:0b:00.0' } })

test.each<[OpenedTransport['name'], DriveFlags, string, object]>([
  ['sim', {}, 'SIMULATED  WD PC SN740 512GB (profile sn740)', { simulated: true, profile: 'sn740' }],
  ['sim', { profile: 'ideal' }, 'SIMULATED  gpunvme simulated controller (profile ideal)', { profile: 'ideal' }],
  [
    ...(['qtest', { image: 'a\u001b.img' }] as const),
    "SIMULATED  QEMU's NVMe controller (transport qtest, image a\\u{1b}.img)",
    { simulated: true },
  ],
  ['vfio', { drive: 'nvme0' }, 'DRIVE  0000:0b:00.0 (transport vfio)', { simulated: false, address: '0000:0b:00.0' }],
  ['vfio-user', { socket: '/tmp/d.sock' }, 'DRIVE  served at /tmp/d.sock (transport vfio-user)', {}],
])('nameOpened names a drive of transport %s opened by %j', (name, flags, line, facts) => {
  expect(nameOpened(opened(name), flags)).toMatchObject({ line, facts: { transport: name, ...facts } })
})

test('nameOpened does not state whether a served drive is simulated', () => {
  expect(nameOpened(opened('vfio-user'), { socket: 's' }).facts).not.toHaveProperty('simulated')
})

test('nameLinuxDrive includes Linux name and model', async () => {
  const root = await rootOf(machines.find(({ name }) => name === 'drive-free')!)
  expect(nameLinuxDrive({ bdf: '0000:01:00.0', linuxName: 'nvme0' }, root)).toEqual({
    line: 'DRIVE  0000:01:00.0 (nvme0, Samsung SSD 980 PRO 1TB)',
    facts: { simulated: false, address: '0000:01:00.0' },
  })
  expect(nameLinuxDrive({ bdf: '0000:09:00.0', linuxName: undefined }, root).line).toBe('DRIVE  0000:09:00.0')
})
