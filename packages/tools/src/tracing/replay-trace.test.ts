import { DatasetManagement, Read, SQE, Write } from '@gpunvme/nvme-spec'
import type { FaultPlan, TraceEvent } from '@gpunvme/nvme-spec/transport'
import { appendFileSync, renameSync, truncateSync, utimesSync, writeFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { recordedTrace } from '../../test/recorded-trace.js'
import { contents, withSimulatedDrive } from '../../test/simulated-drive.js'
import { linesOf, submission } from '../../test/trace-lines.js'
import { LatencyTally, type ReplayTally } from './replay-tally.js'
import { checkTraceFile, requireUnchanged } from './read-trace.js'
import { replayTrace } from './replay-trace.js'
import { scanTrace } from './scan-trace.js'

const folder = scratch()
const path = join(folder, 'trace.jsonl')
const never = new AbortController().signal

function save(events: readonly TraceEvent[]): void {
  writeFileSync(path, linesOf(...events))
}

interface Setting {
  readonly allowWrites?: boolean
  readonly capacityBytes?: number
  readonly faults?: FaultPlan
  readonly drive?: string
  readonly depth?: number
  readonly afterScan?: () => void
}

/** Replays the file on a new simulated drive. */
async function replayed(
  { allowWrites = false, drive = '', depth = 32, afterScan = () => undefined, ...options }: Setting = {},
  look: (bytes: (offsetBytes: number, lengthBytes: number) => Uint8Array) => void = () => undefined,
): Promise<ReplayTally> {
  const { nsid, writtenFrom, writtenTo } = await scanTrace(path, drive, never)
  afterScan()
  return withSimulatedDrive(options, async ({ media, namespace }) => {
    const { blocks, blockBytes, maxTransferBytes } = namespace
    const target = { nsid, blocks, blockBytes, maxTransferBytes, allowWrites, writtenFrom, writtenTo }
    const tally = await replayTrace(path, namespace, {
      target,
      drive,
      depth,
      signal: never,
      onProgress: () => undefined,
    })
    look((offsetBytes, lengthBytes) => contents(media, offsetBytes, lengthBytes))
    return tally
  })
}

const counts = ({ names }: ReplayTally) =>
  Object.fromEntries([...names].map(([name, { same, different, unanswered }]) => [name, [same, different, unanswered]]))

describe('replayTrace', () => {
  test('repeats reads with the same statuses and similar modelled times', async () => {
    const events = await recordedTrace(async ({ namespace }) => {
      for (const slba of [0, 100, 7]) await namespace.readBytes(slba * 512, 4096)
      await namespace.readBytes(0, 3_000_000)
    })
    save(events)
    const tally = await replayed()
    expect(counts(tally)).toEqual({ Read: [6, 0, 0] })
    expect(tally.differences).toEqual([])
    expect([...tally.skipped.keys()]).toEqual(['Admin commands'])
    const { trace, replay } = tally.names.get('Read')!
    // The model is the same; only the polls of the host differ.
    expect(replay.summary().p50Ns / trace.summary().p50Ns).toBeCloseTo(1, 0)
  })

  test('replayTrace keeps as many commands in flight as the trace', async () => {
    save(await recordedTrace(({ namespace }) => namespace.readBytes(0, 8 * 1024 * 1024).then(() => undefined)))
    const deep = (await replayed()).names.get('Read')!.replay.summary()
    const shallow = (await replayed({ depth: 1 })).names.get('Read')!.replay.summary()
    // With depth 1, no command waits for others on the link.
    expect(deep.count).toBe(8)
    expect(deep.maxNs).toBeGreaterThan(shallow.maxNs * 3)
  })

  test('reports a command with a different status by its line', async () => {
    save(await recordedTrace(({ namespace }) => namespace.readBytes(5 * 512, 512).then(() => undefined)))
    const action = { kind: 'status', sct: 2, sc: 0x81, dnr: true } as const
    const tally = await replayed({ faults: { rules: [{ match: { opcode: 2, lba: [5, 5] }, action }] } })
    expect(counts(tally)).toEqual({ Read: [0, 1, 0] })
    const [difference] = tally.differences
    expect(difference).toMatchObject({
      command: { name: 'Read', slba: 5, blocks: 1 },
      trace: 'Successful Completion (SCT 0h SC 00h)',
      replay: expect.stringMatching(/^Unrecovered Read Error \(SCT 2h SC 81h/) as string,
    })
    expect(difference!.line).toBeGreaterThan(1)
  })

  test('writes only with allowWrites, and fills each block with its LBA', async () => {
    save(
      await recordedTrace(async ({ namespace }) => {
        const memory = namespace.dma.alloc(1024)
        await namespace.write(9, 2, memory)
        await namespace.flush()
        memory.free()
      }),
    )
    const refused = await replayed({}, (bytes) => expect(new Set(bytes(9 * 512, 1024))).toEqual(new Set([0])))
    expect(Object.fromEntries(refused.skipped)).toMatchObject({ 'without --allow-writes': 2 })
    const done = await replayed({ allowWrites: true }, (bytes) => {
      const words = new DataView(bytes(8 * 512, 4 * 512).buffer)
      expect([0, 512, 1016, 1024, 1536].map((at) => words.getBigUint64(at, true))).toEqual([0n, 9n, 9n, 10n, 0n])
    })
    expect(counts(done)).toMatchObject({ Write: [1, 0, 0], Flush: [1, 0, 0] })
    expect(await scanTrace(path, '', never)).toMatchObject({
      writes: 1,
      writtenFrom: 9,
      writtenTo: 11,
      time: 'modelled',
    })
  })

  test('stops before a write outside of the range that was checked', async () => {
    const write = (SLBA: number, NLB: number) => linesOf(submission(Write, { NSID: 1, SLBA, NLB }))
    for (const [slba, nlb] of [
      [8, 0],
      [8, 1],
      [10, 1],
      [100, 0],
    ] as const) {
      const afterScan = () => writeFileSync(path, write(slba, nlb))
      writeFileSync(path, write(9, 1))
      await expect(replayed({ allowWrites: true, afterScan })).rejects.toMatchObject({
        code: 'ERR_GPUNVME_TRACE_CHANGED',
        category: 'infeasible',
      })
    }
    writeFileSync(path, linesOf(read({ SLBA: 9, NLB: 1 })))
    const afterScan = () => writeFileSync(path, write(9, 1))
    await expect(replayed({ allowWrites: true, afterScan })).rejects.toThrow('has changed since it was checked')
  })

  test('rejects a file that was changed or replaced since it was checked', async () => {
    const text = linesOf(read({ SLBA: 9, NLB: 1 }))
    writeFileSync(path, text)
    const stamp = await checkTraceFile(path)
    await requireUnchanged(path, stamp)
    const refused = { code: 'ERR_GPUNVME_TRACE_CHANGED' }
    appendFileSync(path, text)
    await expect(requireUnchanged(path, stamp)).rejects.toMatchObject(refused)
    writeFileSync(path, text)
    utimesSync(path, 1, 1)
    await expect(requireUnchanged(path, stamp)).rejects.toMatchObject(refused)
    const old = await checkTraceFile(path)
    writeFileSync(`${path}.new`, text)
    utimesSync(`${path}.new`, 1, 1)
    renameSync(`${path}.new`, path)
    await expect(requireUnchanged(path, old)).rejects.toMatchObject(refused)
  })

  test('skips commands beyond the capacity or the transfer limit of the drive', async () => {
    save(await recordedTrace(({ namespace }) => namespace.readBytes(0, 2_000_000).then(() => undefined)))
    const tally = await replayed({ capacityBytes: 1024 * 1024 })
    expect(tally.skipped.get('beyond the end of this namespace')).toBe(1)
    writeFileSync(path, linesOf(read({ NLB: 65_535 })))
    expect(
      (await replayed({ capacityBytes: 64 * 1024 * 1024 })).skipped.get('longer than the limit of this drive (MDTS)'),
    ).toBe(1)
  })

  test('replays the selected drive of a trace with several drives', async () => {
    const events = await recordedTrace(({ namespace }) => namespace.readBytes(0, 512).then(() => undefined))
    save([...events, ...events.map((event) => ({ ...event, track: `2: ${event.track}` }))])
    expect(counts(await replayed({ drive: '2: ' }))).toEqual({ Read: [1, 0, 0] })
    await expect(scanTrace(path, '3: ', never)).rejects.toThrow('--opened 3: it has commands of the drives 1, 2')
  })
})

/** Returns the submission of a Read of namespace 1. */
function read(fields: object): TraceEvent {
  return submission(Read, { NSID: 1, ...fields })
}

describe('an invalid or unusual trace', () => {
  test.each([
    ['', 'it has no events'],
    ['{}\n', 'Trace line 1 cannot be read: "timeNs" is missing'],
    [`${linesOf(read({}))}nonsense\n`, 'Trace line 2 cannot be read: not JSON'],
    [linesOf(read({})).replace('"nlb":0', '"nlb":-1'), 'Trace line 1 cannot be read: "command": nlb: expected'],
    ['{"timeNs":1,"track":"bar","name":"read VS"}\n', 'it has no submitted commands'],
    ['x'.repeat(200_000), 'line 1 has more than 65536 characters'],
    [`${linesOf(read({}))}${'\0'.repeat(100)}\n`, 'Trace line 2 cannot be read: not JSON'],
  ])('scanTrace rejects an invalid trace with the line: %j', async (text, problem) => {
    writeFileSync(path, text)
    await expect(scanTrace(path, '', never)).rejects.toMatchObject({
      category: 'infeasible',
      message: expect.stringContaining(`trace.jsonl: ${problem}`) as string,
    })
  })

  test('a trace with a truncated last line is replayed without it', async () => {
    save(await recordedTrace(({ namespace }) => namespace.readBytes(0, 512).then(() => undefined)))
    truncateSync(path, statSync(path).size - 10)
    expect(counts(await replayed())).toEqual({ Read: [1, 0, 0] })
  })

  test('commands with invalid namespaces, LBAs or lengths are skipped', async () => {
    writeFileSync(
      path,
      linesOf(
        read({ CID: 1 }),
        read({ CID: 2, NSID: 2 }),
        ...[read({ CID: 3 })].map((event) => ({
          ...event,
          command: { ...event.command!, slba: '18446744073709551615' },
        })),
        read({ CID: 4, NSID: 0xffff_ffff }),
        submission(DatasetManagement, { CID: 5, NSID: 1, NR: 0, AD: 1 }),
        submission(SQE, { OPC: 0xc0, CID: 6, NSID: 1 }),
        { timeNs: 1, track: 'sq 1', name: 'submit', details: { entry: 'in memory that the host cannot read' } },
      ),
    )
    const tally = await replayed()
    expect(counts(tally)).toEqual({ Read: [0, 0, 1] })
    expect(Object.fromEntries(tally.skipped)).toEqual({
      'for another namespace': 1,
      'Read, which is not replayed': 2,
      'Dataset Management, which is not replayed': 1,
      'NVM opcode 0xc0, which is not replayed': 1,
      'unreadable commands': 1,
    })
  })

  test('each of thousands of commands without completions is replayed once', async () => {
    writeFileSync(path, '')
    for (let cid = 0; cid < 3000; cid++) {
      appendFileSync(path, linesOf(read({ CID: cid % 700, NLB: 2047 })))
    }
    expect(counts(await replayed())).toEqual({ Read: [0, 0, 3000] })
  }, 120_000)
})

test('LatencyTally has percentiles correct to three digits', () => {
  const tally = new LatencyTally()
  for (let ns = 1; ns <= 100_000; ns++) tally.add(ns)
  const { count, meanNs, p50Ns, p99Ns, maxNs } = tally.summary()
  expect([count, meanNs, maxNs]).toEqual([100_000, 50_000.5, 100_000])
  expect(p50Ns / 50_000).toBeCloseTo(1, 2)
  expect(p99Ns / 99_000).toBeCloseTo(1, 2)
  expect(new LatencyTally().summary()).toEqual({ count: 0, meanNs: 0, p50Ns: 0, p99Ns: 0, maxNs: 0 })
})
