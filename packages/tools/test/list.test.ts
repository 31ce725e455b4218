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

/** Runs list on the saved machine. */
const list = (...args: string[]) => gpunvme(['list', '--root', 'saved', ...args], { cwd })

describe('list', () => {
  test(
    'prints next steps for the copied machine',
    async () => {
      const { code, stdout, stderr } = await list()
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain(`Not in use, 4 partitions: vfat, unknown, ntfs, ext4. Next: ${BIND}\n`)
    },
    SLOW,
  )

  test(
    '--topology prints the tree and the paths, without bridges that lead nowhere unless --all is given',
    async () => {
      const { code, stdout, stderr } = await list('--topology')
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain('└─ 0a:00.0  GPU NVIDIA GeForce RTX 3090  Gen1 x8 of Gen3 x8')
      expect(stdout).toContain('0a:00.0 NVIDIA GeForce RTX 3090 <-> nvme0 (01:00.0), nvme1 (0b:00.0)')
      expect(stdout).toContain('slowest link     Gen3 x4: 3.6 GB/s of payload at MPS 256')
      expect(stdout).toContain('tiers            1 (cuda) likely, 2 likely, 3 unknown')
      expect(stdout).not.toContain('00:00.0')
      expect((await list('--topology', '--all')).stdout).toContain('00:00.0')
    },
    SLOW,
  )

  test(
    '--json prints one object, with the tree and the paths if --topology is given',
    async () => {
      const listed = json(await list('--json'))
      expect(listed).toMatchObject({
        schema: 'gpunvme.list/1',
        drives: [
          { name: 'nvme0', driver: 'nvme', owner: 'linux', present: true },
          { name: 'nvme1', holders: [], link: { now: { gen: 3, lanes: 4 } }, next: BIND },
        ],
        gpus: [{ window: { bar: 1, sizeBytes: 32 * 2 ** 30 }, next: 'gpunvme doctor --root saved' }],
      })
      // A drive that is in use has no next step.
      expect((listed as { drives: object[] }).drives[0]).not.toHaveProperty('next')
      expect(listed).not.toHaveProperty('hostBridges')
      const topology = json(await list('--topology', '--json'))
      expect(topology).toMatchObject({
        ...(listed as object),
        iommu: { mode: 'off' },
        gpuPaths: [],
        drivePaths: [
          { drive: '0000:01:00.0', path: { from: '0000:0a:00.0', to: '0000:01:00.0' } },
          {
            gpu: '0000:0a:00.0',
            drive: '0000:0b:00.0',
            path: { meeting: 'same-host-bridge' },
            tiers: [{ tier: 1, passes: 'likely' }, { tier: 2 }, { tier: 3 }],
          },
        ],
      })
    },
    SLOW,
  )

  test.each(['nvme1', '0b:00.0', '0000:0B:00.0', '/dev/nvme1n1'])(
    '%s describes that drive only',
    async (word) => {
      const { code, stdout, stderr } = await list(word)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^0000:0b:00\.0 {2}nvme1 {2}WD PC SN740 .*\n {2}serial {5}S0002OPWVO\n/)
      expect(stdout).toContain(`  next       ${BIND}\n`)
      expect(stdout).toContain('slowest link     Gen3 x4 at 0b:00.0: 3.6 GB/s of payload at MPS 256')
      expect(stdout).not.toContain('nvme0')
    },
    SLOW,
  )

  test(
    'ADDRESS --json has that drive or GPU and its paths',
    async () => {
      const ends = [{ gpu: '0000:0a:00.0', drive: '0000:0b:00.0' }]
      expect(json(await list('nvme1', '--json'))).toMatchObject({
        schema: 'gpunvme.list/1',
        drives: [{ address: '0000:0b:00.0', serial: 'S0002OPWVO', closed: expect.any(String) as string }],
        gpus: [],
        drivePaths: ends,
      })
      expect(json(await list('0a:00.0', '--json'))).toMatchObject({
        drives: [],
        gpus: [{ address: '0000:0a:00.0' }],
        drivePaths: [{ drive: '0000:01:00.0' }, ...ends],
      })
    },
    SLOW,
  )

  test.each([
    ['a word that is no address', ['gpu0'], 2, "'gpu0' names neither a GPU nor a drive"],
    ['an address without a function', ['0f:00.0'], 3, 'There is no PCI function 0000:0f:00.0'],
    ['the address of another device', ['02:00.1'], 3, 'is neither a GPU nor an NVMe drive, but 400 Series'],
    ['an unknown name', ['nvme7'], 3, 'Linux has no drive named nvme7'],
    ['an address with --topology', ['nvme0', '--topology'], 2, 'are mutually exclusive'],
    ['--all without --topology', ['--all'], 2, '--all requires --topology\n  Try: gpunvme list --topology --all'],
    ['two addresses', ['nvme0', 'nvme1'], 2, 'gpunvme help list'],
  ])(
    'rejects %s',
    async (_, args, exit, text) => {
      const { code, stdout, stderr } = await list(...args)
      expect([code, stdout]).toEqual([exit, ''])
      expect(stderr).toContain(text)
    },
    SLOW,
  )

  test(
    'rejects a folder that is not a machine',
    async () => {
      const { code, stdout, stderr } = await gpunvme(['list', '--root', 'empty'], { cwd })
      expect([code, stdout]).toEqual([3, ''])
      expect(stderr).toMatch(/empty is not a copy of a machine.*\n.*made by gpunvme doctor --save/)
    },
    SLOW,
  )
})
