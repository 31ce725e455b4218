import { describe, expect, test } from 'vitest'
import { machines } from '../../test/machines/index.js'
import { rootOf } from '../../test/machines/read-described.js'
import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { requireNamedDrive } from './require-named.js'

async function check(flags: DriveFlags, name: string): Promise<string> {
  const root = await rootOf(machines.find((machine) => machine.name === name)!)
  return requireNamedDrive(flags, root).then(
    () => 'named',
    (error: unknown) => {
      expect(error).toBeInstanceOf(UsageError)
      return (error as Error).message
    },
  )
}

describe('requireNamedDrive without a drive', () => {
  test("suggests the machine's only NVMe drive, with model and size", async () => {
    const message = await check({}, 'drive-free')
    expect(message).toMatch(/^No drive is named\n/)
    expect(message).toMatch(/this machine has one: 0000:01:00\.0 \(nvme0\), Samsung SSD 980 PRO .*, \d.* [GT]iB\n/)
    expect(message).toContain('use --drive nvme0; or use --sim for a simulated drive')
  })

  test('suggests the address of the only drive if it has no Linux name', async () => {
    expect(await check({}, 'drive-in-vfio')).toContain('--drive 0000:01:00.0; or use --sim')
  })

  test('escapes control characters in the model', async () => {
    expect(await check({}, 'drive-hostile-names')).not.toContain('\u001b')
  })

  test('suggests gpunvme list if the machine has several drives', async () => {
    const message = await check({}, 'server-epyc-two-sockets')
    expect(message).toMatch(
      /this machine has \d+ NVMe drives\n {2}Try: gpunvme list, which lists them; or use --drive ADDRESS; or use --sim /,
    )
  })

  test('suggests --sim if the machine has no NVMe drive', async () => {
    const message = await check({}, 'intel-no-nvme')
    expect(message).toContain('this machine has no NVMe drive')
    expect(message).toContain('use --sim for a simulated drive')
  })

  test.each([{ seed: 1 }, { capacity: 512 }, { nsid: 1 }])('rejects %o, which does not name a drive', async (flags) => {
    expect(await check(flags, 'drive-free')).toContain('No drive is named')
  })
})

test.each<DriveFlags>([
  ...[{ drive: 'nvme0' }, { socket: 's' }, { image: 'i' }, { sim: true }],
  ...[{ profile: 'ideal' }, { realTime: true }, { transport: 'qtest' }],
])('requireNamedDrive accepts %o', async (flags) => {
  expect(await check(flags, 'drive-free')).toBe('named')
})
