import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runGuest, type GuestRun } from '../../../cuda-native/test/vm/guest.js'
import { kernelFaults } from '../../../cuda-native/test/vm/kernel-log.js'
import { parts } from '../../../cuda-native/test/vm/modes.js'
import { ModuleFolder } from '../../../cuda-native/test/vm/modules.js'
import type { BenchResults } from '../../src/report/bench-results.js'
import { readResults } from '../../src/report/read-results.js'

// bench on the drive of a Linux guest: through Linux's driver, through ours with vfio, and both combined.

const MIB = 2 ** 20
const SCRIPT = 'bench-halves'
const BIN = join(import.meta.dirname, '../../bin/gpunvme.js')
const made = parts()

interface Facts {
  readonly case: string
  readonly ended: { readonly code: number | null; readonly stdout: string; readonly stderr: string }
  readonly results: BenchResults
  /** The driver that owns the drive afterwards. */
  readonly driver: string
}

describe.runIf(typeof made !== 'string')('bench on a drive of a Linux guest', () => {
  let guest: GuestRun
  beforeAll(async () => {
    if (typeof made === 'string') return
    const modules = ['nvme', 'virtio_pci', '9pnet_virtio', '9p', 'vfio-pci', 'vfio_iommu_type1']
    guest = await runGuest({
      parts: made,
      modules: new ModuleFolder(made.modules).inOrder(modules),
      programs: join(import.meta.dirname, 'bench'),
      scenarios: [{ name: SCRIPT, script: SCRIPT, timeoutMs: 1_200_000, environment: { VM_GPUNVME: BIN } }],
      images: { measured: 64 * MIB },
      devices: [
        ...['-device', 'intel-iommu,intremap=on'],
        ...['-device', 'nvme,id=measured,serial=BENCH001,drive=measured,addr=4'],
      ],
      append: 'intel_iommu=on',
      memoryMiB: 1024,
      deadlineMs: 1_500_000,
    })
  })

  const of = (name: string): Facts => {
    const run = guest.scenarios.get(SCRIPT)
    const found = (run?.lines as Facts[] | undefined)?.find((line) => line.case === name)
    if (found === undefined) throw new Error(`no case ${name}: ${run?.end?.stderr ?? guest.console}`)
    return found
  }

  test('the kernel reports no faults', () => {
    const said = [...guest.kernel, ...(guest.scenarios.get(SCRIPT)?.kernel ?? [])]
    expect(kernelFaults(said)).toEqual([])
    expect(guest.scenarios.get(SCRIPT)?.end, guest.console).toMatchObject({ code: 0, stderr: '' })
  })

  test('bench measures baselines and reads counters through Linux’s driver', () => {
    const { ended, results } = of('linux')
    expect([ended.code, ended.stderr], ended.stdout).toEqual([0, 'Wrote /tmp/linux.json\n'])
    expect(results).toMatchObject({
      transport: 'kernel',
      time: 'wall',
      drive: { serialEnd: 'H001', capacityBytes: 64 * MIB },
    })
    expect(results.cells.map(({ source, problem }) => [source, problem])).toEqual([
      ['pread', undefined],
      ['io_uring', undefined],
    ])
    for (const { bytes, counters } of results.cells.flatMap(({ repeats }) => repeats)) {
      const units = BigInt(counters!.after.dataUnitsRead) - BigInt(counters!.before.dataUnitsRead)
      expect(Number(units) * 512_000).toBeGreaterThan(bytes * 0.95)
    }
  })

  test('bench measures engines through vfio, and the drive counts the commands that they sent', () => {
    const { ended, results } = of('ours')
    expect(ended.code, ended.stderr).toBe(0)
    expect(results).toMatchObject({
      transport: 'vfio',
      time: 'wall',
      drive: { serialEnd: 'H001', address: '0000:00:04.0' },
    })
    expect(results.cells.map(({ source, problem }) => [source, problem])).toEqual([
      ['host', undefined],
      ['cpu-kernel', undefined],
    ])
    for (const { commands, counters } of results.cells.flatMap(({ repeats }) => repeats)) {
      const { before, after } = counters!
      expect(Number(BigInt(after.hostReadCommands) - BigInt(before.hostReadCommands))).toBe(commands)
    }
  })

  test('report compares baselines and engines that were measured on the same drive', () => {
    const { ended } = of('both')
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stdout).toContain('TIMES: rate divided by that of pread')
    for (const name of ['pread', 'io_uring', 'host', 'cpu-kernel']) {
      expect(ended.stdout).toMatch(new RegExp(`^${name} +\\d`, 'm'))
    }
  })

  test('--hand-over alternates between engines and baselines, and returns the drive to Linux', () => {
    const { ended, results, driver } = of('handed')
    expect([ended.code, ended.stderr, driver], ended.stdout).toEqual([0, 'Wrote /tmp/turns.json\n', 'nvme'])
    expect(results.transport).toBe('vfio, kernel')
    expect(
      results.cells.map(({ source, problem, repeats }) => [source, problem, repeats.map(({ turn }) => turn)]),
    ).toEqual([
      ['host', undefined, [0, 3]],
      ['io_uring', undefined, [1, 2]],
    ])
  })

  test('bench writes only if the serial number is given', () => {
    const { ended: refused } = of('unconfirmed')
    expect([refused.code, refused.stdout.includes('GB/s')]).toEqual([4, false])
    const { ended } = of('written')
    expect(ended.code, ended.stderr + ended.stdout).toBe(0)
    // The output of bind precedes the JSON.
    const { cells } = readResults(ended.stdout.slice(ended.stdout.indexOf('{')), 'stdout')
    expect(cells.map(({ rw, problem }) => [rw, problem])).toEqual([['write', undefined]])
  })
})

test.runIf(typeof made === 'string')('bench in a Linux guest', ({ skip }) => skip(made as string))
