import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { gpunvme, json, scratch } from './gpunvme.js'
import { machines, writeMachine } from './machines/index.js'

const cwd = scratch()
const SLOW = 60_000
const BIND = 'on that machine: sudo gpunvme bind nvme1'

beforeAll(() => {
  writeMachine(
    machines.find(({ name }) => name === 'amd-b450-rtx3090')!,
    join(cwd, 'saved'),
  )
  mkdirSync(join(cwd, 'empty'))
}, SLOW)

describe('topology and list', () => {
  test(
    'topology prints the tree and the paths',
    async () => {
      const { code, stdout, stderr } = await gpunvme(['topology', '--root', 'saved'], { cwd })
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain('└─ 0a:00.0  GPU NVIDIA GeForce RTX 3090  Gen1 x8 of Gen3 x8')
      expect(stdout).toContain('slowest     Gen3 x4 at 0b:00.0: 3.6 GB/s of payload at MPS 256')
    },
    SLOW,
  )

  test(
    'topology --json and list --json print one object',
    async () => {
      const topology = json(await gpunvme(['topology', '--root', 'saved', '--json'], { cwd }))
      expect(topology).toMatchObject({
        schema: 'gpunvme.topology/1',
        iommu: { mode: 'off' },
        paths: [
          { from: '0000:0a:00.0', to: '0000:01:00.0' },
          { to: '0000:0b:00.0', meeting: 'same-host-bridge' },
        ],
      })
      const list = json(await gpunvme(['list', '--root', 'saved', '--json'], { cwd }))
      expect(list).toMatchObject({
        schema: 'gpunvme.list/1',
        drives: [
          { name: 'nvme0', driver: 'nvme' },
          { name: 'nvme1', holders: [], link: { now: { gen: 3, lanes: 4 } }, next: BIND },
        ],
        gpus: [{ window: { bar: 1, sizeBytes: 32 * 2 ** 30 }, next: 'gpunvme doctor --root saved' }],
      })
      // A drive that is in use has no next step.
      expect((list as { drives: object[] }).drives[0]).not.toHaveProperty('next')
    },
    SLOW,
  )

  test(
    'list prints next steps for the copied machine',
    async () => {
      const { stdout } = await gpunvme(['list', '--root', 'saved'], { cwd })
      expect(stdout).toContain(`Not in use, 4 partitions: vfat, unknown, ntfs, ext4. Next: ${BIND}\n`)
    },
    SLOW,
  )

  test(
    'a folder that is not a machine is rejected',
    async () => {
      for (const verb of ['topology', 'list']) {
        const { code, stdout, stderr } = await gpunvme([verb, '--root', 'empty'], { cwd })
        expect([code, stdout]).toEqual([3, ''])
        expect(stderr).toMatch(/empty is not a copy of a machine.*\n.*made by gpunvme doctor --save/)
      }
    },
    SLOW,
  )

  test(
    'topology rejects arguments',
    async () => {
      const { code, stderr } = await gpunvme(['topology', 'nvme0'], { cwd })
      expect(code).toBe(2)
      expect(stderr).toContain('gpunvme help topology')
    },
    SLOW,
  )
})
