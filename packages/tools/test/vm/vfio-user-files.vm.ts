import { beforeAll, describe, expect, test } from 'vitest'
import { expectKernel, kernelErrors, mistakes, Steps } from './vfio-user/ended.js'
import { DISTURBED, FILES, FIO } from './vfio-user/filed.js'
import { kernelsFor } from './vfio-user/kernels.js'
import { runServedGuest, servedGuestParts, type ServedGuestRun } from './vfio-user/served-guest.js'
import { scenarioOf } from './vfio-user/steps.js'
import { toldSerial } from './vfio-user/told.js'

// A file system and fio on a simulated drive that Linux uses through vfio-user.

interface Fio {
  readonly jobs: readonly {
    readonly error: number
    readonly read: { readonly total_ios: number }
    readonly write: { readonly total_ios: number }
  }[]
}

describe.each(kernelsFor('7.2'))('ext4 and fio on Linux %s', (series) => {
  const made = servedGuestParts(series)
  if (typeof made === 'string') {
    test('ext4 and fio on a vfio-user drive', ({ skip }) => skip(made))
    return
  }
  let guest: ServedGuestRun
  const of = (scenario: string) => new Steps(guest, scenario)

  beforeAll(async () => {
    guest = await runServedGuest({
      series,
      drives: [toldSerial('VFIO-USER-FILES')],
      scenarios: [scenarioOf('files', FILES, 1), scenarioOf('fio', FIO), scenarioOf('disturbed', DISTURBED)],
      deadlineMs: 1_500_000,
    })
  })

  test('a file tree is unchanged after unmount, fsck and mount', () => {
    // 20 folders of 20 files, without one removed folder, with a hard link and a sparse file.
    expect(of('files').text('tree')).toBe('382\n')
    expect(of('files').text('fsck')).toMatch(/Pass 5: [^]* files \(0\.0% non-contiguous\)/)
    expect(of('files').text('compared')).toBe('d1/f1\n')
  })

  test('fsck finds no errors after blocks were discarded', () => {
    expect(of('files').text('trimmed')).toContain('Pass 5: ')
    // Dataset Management.
    expect(guest.drives[0]!.statistics.ioCommands[9]).toBeGreaterThan(0)
  })

  test('fio verifies the checksums of all blocks that it wrote at depth 16', () => {
    const { jobs } = of('fio').json('crc32c') as Fio
    expect(jobs).toMatchObject([{ error: 0, read: { total_ios: 6144 }, write: { total_ios: 6144 } }])
  })

  test('four fio jobs that read and write concurrently succeed', () => {
    const { jobs } = of('fio').json('mix') as Fio
    const [{ error, read, write }] = jobs as [Fio['jobs'][number]]
    expect([error, read.total_ios + write.total_ios]).toEqual([0, 4 * 1536])
    expect(read.total_ios).toBeGreaterThan(write.total_ios)
  })

  test('fio verifies all blocks that it wrote while the controller was being reset', () => {
    const [resets, ...lines] = of('disturbed').text('reset under fio').split('\n')
    expect((JSON.parse(lines.join('\n')) as Fio).jobs).toMatchObject([{ error: 0, read: { total_ios: 4096 } }])
    expect(Number(resets)).toBeGreaterThan(0)
    expectKernel(
      of('disturbed').of('reset under fio'),
      Array.from({ length: Number(resets) }, () => /^nvme nvme\d: resetting controller$/),
    )
  })

  test('a drive that is removed during fio and rescanned has its data and works', () => {
    // For a program that has the drive open, reads return 0 bytes on Linux 7.2, and fail on 6.1.
    expect(of('disturbed').text('removed under fio')).toMatch(/^fio ended with [01]\n[^]*err=[^]*\n0\n$/)
    of('disturbed').text('remembered')
    expect(of('disturbed').text('found again')).toBe('live\n')
    of('disturbed').text('works again')
  })

  test('the kernel reports no errors besides I/O of the removed drive', () => {
    const steps = [...of('files').all, ...of('fio').all, ...of('disturbed').all]
    expect(kernelErrors(steps.filter(({ name }) => name !== 'removed under fio'))).toEqual([])
    expect(guest.kernel.filter((line) => /nvme|BUG|WARNING|Oops|Call Trace/.test(line))).toEqual([])
    expect(mistakes(guest.drives[0]!.diagnostics)).toEqual([])
    expect(guest.finished, guest.console).toBe(true)
  })
})
