import { describe, expect, test } from 'vitest'
import { machines } from '../../test/machines/index.js'
import { readDescribed } from '../../test/machines/read-described.js'
import { lanesOf } from './lanes.js'
import type { Machine } from './machine.js'
import { pathBetween } from './path.js'

function read(name: string): Promise<Machine> {
  return readDescribed(machines.find((machine) => machine.name === name)!)
}

const SLOW = 60_000

describe('pathBetween', () => {
  test(
    'P2P stays in a common switch with ACS off',
    async () => {
      const path = pathBetween(await read('server-xeon-plx'), '0000:1a:00.0', '0000:1b:00.0')
      expect([path.meeting, path.meetAt, path.writes.passes]).toEqual(['same-switch', '0000:18:00.0', 'likely'])
      expect(path.links.map(({ address }) => address)).toEqual(['0000:1a:00.0', '0000:1b:00.0'])
      // Gen3 x4 at MPS 256: 8 GT/s * 4 lanes * 128/130 / 8 bits * 256 / (256 + 24).
      expect(path.slowest).toMatchObject({ gen: 3, lanes: 4, maxPayloadBytes: 256, address: '0000:1b:00.0' })
      expect(path.slowest).toHaveProperty('payloadBytesPerSecond', expect.closeTo(3.601e9, -7))
    },
    SLOW,
  )

  test(
    'ACS redirect in a common switch is a note with the port',
    async () => {
      const path = pathBetween(await read('server-xeon-plx-acs'), '0000:1a:00.0', '0000:1b:00.0')
      expect(path.notes).toEqual([expect.stringContaining('0000:19:04.0')])
    },
    SLOW,
  )

  test(
    'the slowest link includes the uplink of the chipset',
    async () => {
      const path = pathBetween(await read('amd-b550-chipset-ssd'), '0000:06:00.0', '0000:04:00.0')
      expect(path.links.map(({ address }) => address)).toEqual(['0000:06:00.0', '0000:02:00.2', '0000:04:00.0'])
      expect(path.slowest).toMatchObject({ gen: 3, lanes: 4, address: '0000:02:00.2' })
    },
    SLOW,
  )

  test(
    'the maximum link speed counts for a GPU, and the current one for a drive',
    async () => {
      const machine = await read('intel-drive-in-x2-slot')
      expect(pathBetween(machine, '0000:01:00.0', '0000:03:00.0').slowest).toMatchObject({ gen: 2, lanes: 4 })
      expect(pathBetween(machine, '0000:01:00.0', '0000:02:00.0').slowest).toMatchObject({ gen: 3, lanes: 2 })
    },
    SLOW,
  )

  test(
    'the meeting point distinguishes sockets and host bridges',
    async () => {
      const machine = await read('server-epyc-two-sockets')
      const meeting = (to: string) => pathBetween(machine, '0000:81:00.0', to).meeting
      expect(['0000:41:00.0', '0000:82:00.0'].map(meeting)).toEqual(['across-sockets', 'same-host-bridge'])
      expect(pathBetween(machine, '0000:01:00.0', '0000:41:00.0').meeting).toBe('same-socket')
    },
    SLOW,
  )

  test(
    'writes are unknown on unlisted root complexes and in guests, and never pass off the bus',
    async () => {
      const passes = async (name: string, from: string, to: string) =>
        pathBetween(await read(name), from, to).writes.passes
      expect(await passes('intel-z690-rtx4090', '0000:01:00.0', '0000:02:00.0')).toBe('unknown')
      expect(await passes('intel-drive-off-the-bus', '0000:01:00.0', '0000:02:00.0')).toBe('never')
      expect(await passes('vm-q35-passthrough', '0000:02:00.0', '0000:03:00.0')).toBe('unknown')
      expect(await passes('amd-x670e-rtx5090', '0000:01:00.0', '0000:02:00.0')).toBe('likely')
    },
    SLOW,
  )

  test(
    'a missing address is a RangeError',
    async () => {
      const machine = await read('drive-free')
      expect(() => pathBetween(machine, '0000:02:00.0', '0000:99:00.0')).toThrow(RangeError)
    },
    SLOW,
  )
})

describe('lanesOf', () => {
  test.each([
    ['amd-b450-proprietary', '0000:01:00.0', 'cpu', undefined],
    ['amd-b450-proprietary', '0000:05:00.0', 'chipset', '0000:02:00.2'],
    ['intel-z690-rtx4090', '0000:02:00.0', 'cpu', undefined],
    ['intel-z690-rtx4090', '0000:03:00.0', 'chipset', undefined],
    ['intel-vmd', '10000:e1:00.0', 'cpu', undefined],
    ['intel-not-root', '0000:03:00.0', 'chipset', undefined],
    ['vm-q35-passthrough', '0000:03:00.0', 'unknown', undefined],
  ])(
    'on %s, %s is on lanes of the %s',
    async (name, address, of, uplink) => {
      expect(lanesOf(await read(name), address)).toMatchObject({ of, uplink, evidence: expect.any(String) as string })
    },
    SLOW,
  )
})
