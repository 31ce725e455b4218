import { beforeAll, describe, expect, test } from 'vitest'
import { kernelErrors, Steps } from './vfio-user/ended.js'
import { kernelsFor } from './vfio-user/kernels.js'
import { runServedGuest, servedGuestParts, type ServedGuestRun } from './vfio-user/served-guest.js'
import { scenarioOf, type Step } from './vfio-user/steps.js'
import { toldSerial } from './vfio-user/told.js'

// A guest without message-signalled interrupts: only the drive's interrupt pin signals completions.

const STEPS: readonly Step[] = [
  {
    name: 'verified',
    run:
      'fio --name=pin --filename=/dev/$D4_N1 --direct=1 --ioengine=libaio --bs=4k --iodepth=8 --rw=randwrite --size=2M ' +
      '--verify=crc32c --verify_fatal=1 --output-format=json',
    timeoutMs: 240_000,
  },
  { name: 'interrupts', run: 'grep nvme /proc/interrupts' },
]

describe.each(kernelsFor('6.1'))('a guest with pci=nomsi, Linux %s', (series) => {
  const made = servedGuestParts(series)
  if (typeof made === 'string') {
    test('pin interrupts of a vfio-user drive', ({ skip }) => skip(made))
    return
  }
  let guest: ServedGuestRun

  beforeAll(async () => {
    guest = await runServedGuest({
      series,
      drives: [toldSerial('VFIO-USER-PIN')],
      append: 'pci=nomsi',
      scenarios: [scenarioOf('pin', STEPS, 1)],
      deadlineMs: 600_000,
    })
  })

  test('fio verifies all blocks that it wrote, with pin interrupts', () => {
    const steps = new Steps(guest, 'pin')
    expect(steps.json('verified')).toMatchObject({ jobs: [{ error: 0, read: { total_ios: 512 } }] })
    const [, ...counts] = /:\s+(\d+)\s+(\d+)\s+IO-APIC .*nvme0q0, nvme0q1/.exec(steps.text('interrupts')) ?? []
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBeGreaterThan(100)
    expect(kernelErrors(steps.all)).toEqual([])
    expect(guest.kernel.filter((line) => /nvme|nobody cared|BUG|WARNING/.test(line))).toEqual([])
    expect([guest.drives[0]!.diagnostics, guest.finished], guest.console).toEqual([[], true])
  })
})
