import { feature, readLog, setFeature } from '../admin.js'
import type { ControllerCase } from '../case.js'
import { check, equal, fail, notApplicable, status, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { CaseHost } from '../host.js'
import { transfer } from '../raw-host/entry.js'
import { needsBlocks } from '../io.js'

const REQUEST = { opcode: 0x0c } as const
const THRESHOLD = 0x04
const CONFIGURATION = 0x0b
const SMART = 0x02

/** DW0: SMART / Health status event (001b), Temperature Threshold (01h), log page 02h. */
const TOO_HOT = 0x0002_0101

/**
 * Returns functions that set the threshold below or above the composite temperature, so that the host can trigger an
 * event. Events that were already reported are not cleared.
 */
async function thresholds(host: CaseHost) {
  const now = (await readLog(host, SMART, 512, { retain: true })).getUint16(1, true)
  if (now === 0) notApplicable('no composite temperature is reported')
  const set = async (value: number) => success(await setFeature(host, THRESHOLD, value))
  return {
    hot: () => set(now - 10),
    cool: () => set(now + 60),
    /** Same as `hot`, with an outstanding request that it completes. Returns the CID of the request. */
    hotWithEvent: () => setWithEvent(host, THRESHOLD, now - 10),
  }
}

/** Sends Set Features, which must also complete a request with the correct DW0. Returns the CID of the request. */
async function setWithEvent(host: CaseHost, fid: number, value: number): Promise<number> {
  const set = host.submit(0, { opcode: 0x09, cdw: { 10: fid, 11: value } })
  const found = await host.collect(0, 2)
  found.forEach(success)
  const reported = found.find(({ cid }) => cid !== set) ?? fail('expected a completion of the request')
  equal('DW0', reported.dw0 & 0x00ff_ff07, TOO_HOT)
  return reported.cid
}

/** Reads the log page of the event; clears the event unless `retain` is set. */
async function readSmart(host: CaseHost, retain: boolean): Promise<void> {
  await readLog(host, SMART, 512, { retain })
}

/**
 * Reads the log page, after which the next event of its type may be reported. Returns whether one was reported. A
 * request is outstanding before and after.
 */
async function clearedWithEvent(host: CaseHost): Promise<boolean> {
  const page = host.alloc(512)
  const read = host.submit(0, { opcode: 0x02, nsid: 0xffff_ffff, prp1: page.iova(), cdw: { 10: SMART | (127 << 16) } })
  await host.settle()
  const found = host.poll(0)
  found.forEach(success)
  const events = found.filter(({ cid }) => cid !== read)
  equal('completions of Get Log Page', found.length - events.length, 1)
  check(events.length <= 1, 'one event is reported until the log page is read again')
  for (const each of events) equal('DW0', each.dw0 & 0x00ff_ff07, TOO_HOT)
  if (events.length > 0) host.submit(0, REQUEST)
  return events.length > 0
}

/** Sends Abort (08h); returns its completion and that of the aborted command, which may be posted in either order. */
async function abort(host: CaseHost, sqid: number, cid: number): Promise<{ answer: Completed; other?: Completed }> {
  const own = host.submit(0, { opcode: 0x08, cdw: { 10: sqid | (cid << 16) } })
  const found: Completed[] = []
  if (!(await host.until(() => found.push(...host.poll(0)) > 0 && found.some((each) => each.cid === own)))) {
    fail('Abort: expected a completion, got none')
  }
  const answer = found.find((each) => each.cid === own)!
  const other = found.find((each) => each.cid !== own)
  return { answer, ...(other && { other }) }
}

/** Base 2.3 §5.2.1 and §5.2.2. */
export const eventCases: readonly ControllerCase[] = [
  {
    id: 'event-requests-limit',
    title: 'AERL + 1 requests are held without an event; one more is Asynchronous Event Request Limit Exceeded',
    spec: 'Base 2.3 §5.2.2, §5.2.2.1, Figure 149',
    async run(host) {
      const { eventRequestLimit } = host.facts
      if (eventRequestLimit > 250) notApplicable(`${eventRequestLimit} requests do not fit into the host's queue`)
      await host.start({ sqEntries: 256 })
      for (let i = 0; i < eventRequestLimit; i++) host.submit(0, REQUEST)
      await host.expectQuiet(0, 'no event has occurred')
      status(await host.admin(REQUEST), '1/05')
      await host.expectQuiet(0, 'no event has occurred')
    },
  },
  {
    id: 'event-is-reported',
    title: 'A temperature over its threshold completes a request: type 001b, information 01h, log page 02h',
    spec: 'Base 2.3 §5.2.2.1, Figures 150 and 153; §5.2.26.1.3',
    async run(host) {
      await host.start()
      const { hotWithEvent, cool } = await thresholds(host)
      await cool()
      success(await setFeature(host, CONFIGURATION, 0x02))
      const cid = host.submit(0, REQUEST)
      await host.expectQuiet(0, 'no event has occurred')
      equal('CID', await hotWithEvent(), cid)
      await host.expectQuiet(0, 'one request is completed for one event')
    },
  },
  {
    id: 'event-is-configured',
    title: 'A warning whose bit in Asynchronous Event Configuration is 0 is not reported until the bit is set to 1',
    spec: 'Base 2.3 §5.2.26.1.5, Figure 409',
    async run(host) {
      await host.start()
      const { hot } = await thresholds(host)
      success(await setFeature(host, CONFIGURATION, 0))
      host.submit(0, REQUEST)
      await hot()
      await host.expectQuiet(0, 'the event is not configured')
      await setWithEvent(host, CONFIGURATION, 0x02)
    },
  },
  {
    id: 'event-masks-its-type',
    title: 'After an event, its type is masked until its log page is read with Retain Asynchronous Event = 0',
    spec: 'Base 2.3 §5.2.2, §5.2.12',
    needs: ({ eventRequestLimit }) => (eventRequestLimit < 3 ? 'AERL allows fewer than 3 requests' : undefined),
    async run(host) {
      await host.start()
      const { hot, cool, hotWithEvent } = await thresholds(host)
      await cool()
      success(await setFeature(host, CONFIGURATION, 0x02))
      host.submit(0, REQUEST)
      await hotWithEvent()
      for (let i = 0; i < 2; i++) host.submit(0, REQUEST)
      await cool()
      await hot()
      await host.expectQuiet(0, 'the type is masked')
      await readSmart(host, true)
      await cool()
      await hot()
      await host.expectQuiet(0, 'the event is retained')
      await cool()
      // Events that occurred while masked may be reported now, one for each read of the page.
      for (let kept = true; kept;) kept = await clearedWithEvent(host)
      await host.expectQuiet(0, 'the temperature is under its threshold')
      await hotWithEvent()
    },
  },
  {
    id: 'event-waits-for-a-request',
    title: 'An event without an outstanding request is kept, and completes the next request',
    spec: 'Base 2.3 §5.2.2',
    async run(host) {
      await host.start()
      const { hot, cool } = await thresholds(host)
      await cool()
      success(await setFeature(host, CONFIGURATION, 0x02))
      await hot()
      host.submit(0, REQUEST)
      await host.settle()
      const [reported] = host.poll(0)
      // Keeping it is recommended, not required.
      if (reported === undefined) notApplicable('events without an outstanding request are not kept')
      success(reported)
      equal('DW0', reported.dw0 & 0x00ff_ff07, TOO_HOT)
    },
  },
  {
    id: 'event-cleared-before-its-request',
    title: 'An event is not reported to a later request after its log page was read, or after a reset',
    spec: 'Base 2.3 §5.2.2',
    async run(host) {
      await host.start()
      const { hot, cool } = await thresholds(host)
      for (const isReset of [false, true]) {
        await cool()
        success(await setFeature(host, CONFIGURATION, 0x02))
        await hot()
        await cool()
        if (isReset) {
          await host.disable()
          await host.start()
          success(await setFeature(host, CONFIGURATION, 0x02))
          await cool()
        } else await readSmart(host, false)
        host.submit(0, REQUEST)
        await host.expectQuiet(0, isReset ? 'a reset has cleared the event' : 'the log page has been read')
        if (!isReset) {
          await host.disable()
          await host.start()
        }
      }
    },
  },
  {
    id: 'abort-event-request',
    title: 'Abort of an Asynchronous Event Request ends it with Command Abort Requested, or reports that it did not',
    spec: 'Base 2.3 §5.2.1, §5.2.1.2, Figure 147',
    async run(host) {
      await host.start()
      const cid = host.submit(0, REQUEST)
      await host.expectQuiet(0, 'no event has occurred')
      const { answer, other } = await abort(host, 0, cid)
      success(answer)
      equal('DW0 bits 31:1', answer.dw0 >>> 1, 0)
      await host.settle()
      const ended = other ?? host.poll(0)[0]
      if (ended === undefined) {
        equal('DW0: Immediate Abort Not Performed', answer.dw0, 1)
        return
      }
      equal('CID', ended.cid, cid)
      status(ended, '0/07')
      // Its slot is free again.
      for (let i = 0; i < host.facts.eventRequestLimit; i++) host.submit(0, REQUEST)
      await host.expectQuiet(0, 'no event has occurred')
    },
  },
  {
    id: 'abort-unknown-command',
    title: 'Abort of a nonexistent command succeeds with Immediate Abort Not Performed = 1',
    spec: 'Base 2.3 §5.2.1.2, Figure 147',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      for (const sqid of [0, 1]) {
        const completed = await host.admin({ opcode: 0x08, cdw: { 10: sqid | (0x4321 << 16) } })
        success(completed)
        equal('DW0', completed.dw0, 1)
      }
    },
  },
  {
    id: 'abort-of-outstanding-commands',
    title: 'A command that is aborted while outstanding completes once, normally or with Command Abort Requested',
    spec: 'Base 2.3 §5.2.1, §5.2.1.2',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(32)
      const { blockBytes } = host.facts
      const data = host.alloc(16 * blockBytes)
      const cids = Array.from({ length: 16 }, (_, i) =>
        host.stage(1, transfer(0x02, i, 1, [data.iova(i * blockBytes), 0])),
      )
      host.ringTail(1)
      const answers = new Map<number, Completed>()
      for (const cid of cids) answers.set(cid, await host.admin({ opcode: 0x08, cdw: { 10: 1 | (cid << 16) } }))
      const ended = await host.collect(1, 16)
      await host.expectQuiet(1, 'every command has ended')
      for (const cid of cids) {
        const own = ended.filter((each) => each.cid === cid)
        equal(`completions of CID ${cid}`, own.length, 1)
        const answer = answers.get(cid)!
        status(answer, '0/00', '1/03')
        if (answer.status === '0/00' && (answer.dw0 & 1) === 0) status(own[0]!, '0/07')
        else status(own[0]!, '0/00', '0/07')
      }
    },
  },
  {
    id: 'abort-limit',
    title: 'More Aborts than ACL allows all complete, excess ones possibly with Abort Command Limit Exceeded',
    spec: 'Base 2.3 §5.2.1, §5.2.1.2, Figure 148',
    async run(host) {
      await host.start({ sqEntries: 64 })
      const count = Math.min(60, host.facts.abortLimit + 8)
      const cids = Array.from({ length: count }, () => host.stage(0, { opcode: 0x08, cdw: { 10: 0x4321_0000 } }))
      host.ringTail(0)
      const found = await host.collect(0, count)
      for (const each of found) status(each, '0/00', '1/03')
      equal('CIDs', new Set(found.map(({ cid }) => cid)).size, cids.length)
      await host.expectQuiet(0, 'every Abort has its completion')
      await feature(host, 0x07)
    },
  },
]
