import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kernelErrors, Steps } from './vfio-user/ended.js'
import { isFull, kernelsFor } from './vfio-user/kernels.js'
import { runServedGuest, servedGuestParts, type ServedGuestRun } from './vfio-user/served-guest.js'
import { scenarioOf, type Step } from './vfio-user/steps.js'
import { toldSerial } from './vfio-user/told.js'

// A guest with more memory than one JavaScript view holds, in two ranges: below 3 GiB, and from 4 GiB.

const GIB = 1024 ** 3
const STEPS: readonly Step[] = [
  {
    name: 'verified',
    run:
      'fio --name=memory --filename=/dev/$D4_N1 --direct=1 --ioengine=libaio --bs=128k --iodepth=16 --rw=randwrite --size=64M ' +
      '--verify=crc32c --verify_fatal=1 --output-format=json',
    timeoutMs: 600_000,
  },
]

describe.runIf(isFull).each(kernelsFor('6.1'))('a guest of 6 GiB, Linux %s', (series) => {
  const made = freemem() < 10 * GIB ? '[vm] less than 10 GiB of memory are free' : servedGuestParts(series)
  if (typeof made === 'string') {
    test('memory above 4 GiB with a vfio-user drive', ({ skip }) => skip(made))
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-memory-'))
  const path = join(folder, 'trace')
  let guest: ServedGuestRun

  afterAll(() => rmSync(folder, { recursive: true }))
  beforeAll(async () => {
    guest = await runServedGuest({
      series,
      drives: [{ ...toldSerial('VFIO-USER-MEMORY'), trace: { path, format: 'text' } }],
      memoryMiB: 6 * 1024,
      scenarios: [scenarioOf('memory', STEPS, 1)],
      deadlineMs: 1_200_000,
    })
  })

  test('fio verifies all blocks that it wrote, with data in memory above 4 GiB', () => {
    const steps = new Steps(guest, 'memory')
    expect(steps.json('verified')).toMatchObject({ jobs: [{ error: 0, read: { total_ios: 512 } }] })
    // Linux 6.1 describes data of this size by an SGL, 7.2 by PRPs.
    const above = readFileSync(path, 'utf8').match(/^.* Write .* (?:PRP1|ADDR)=0x1[0-9a-f]{8} /gm) ?? []
    expect(above.length).toBeGreaterThan(100)
    expect(kernelErrors(steps.all)).toEqual([])
    expect([guest.drives[0]!.diagnostics, guest.finished], guest.console).toEqual([[], true])
  })
})
