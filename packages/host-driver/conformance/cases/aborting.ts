import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EVENT_CHANNEL } from '../../src/index.js'
import { NS_PER_MS } from '../time.js'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, thrownBy } from '../check.js'
import { checkData } from '../data.js'
import { area, KNOWN_LBA, readPlan, readsOf, roundTrip, rule, store, withFaults, withoutAWrite } from './support.js'

/** Effects of an AbortSignal on calls and plans. */
export const abortCases: readonly DriverCase[] = [
  {
    id: 'aborted-before',
    title: 'Throws the reason of a signal that is already aborted; submits nothing',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const { ns, lba, device, alloc } = await context.open()
      const memory = alloc(4096)
      const reason = new Error('before')
      const read = () => ns.read(lba, 1, memory, { signal: AbortSignal.abort(reason) })
      await withoutAWrite(device, async () => check((await thrownBy('read', read)) === reason, 'it throws the reason'))
    },
  },
  {
    id: 'aborted-during',
    title:
      'Submits nothing after the signal of a plan is aborted: commands in flight complete, others are not-submitted',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queueDepth: 4 })
      const { ns, lba, device } = opened
      const memory = await store(opened, 512, 6)
      const abort = new AbortController()
      const running = ns.execute(readPlan(ns, lba, 512), memory, { signal: abort.signal })
      const before = device.countOf('Read')
      abort.abort(new Error('now'))
      const { commands, succeeded, failures } = await running
      equal('outcomes', succeeded + failures.length, commands)
      equal('outcomes of the failures', [...new Set(failures.map(({ outcome }) => outcome.kind))], ['not-submitted'])
      check(device.countOf('Read') - before <= 8, 'at most 8 reads are submitted after the abort')
      checkData(memory, 6, 0, 0, succeeded * ns.blockBytes)
      await roundTrip(opened, 16, 7)
    },
  },
  {
    id: 'aborted-reason',
    title: 'A read that is aborted in progress throws the reason of its signal',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queueDepth: 2, maxTransferBytes: 4096 })
      const { ns, lba } = opened
      const memory = await store(opened, 512, 6)
      const abort = new AbortController()
      const reading = ns.read(lba, 512, memory, { signal: abort.signal })
      const reason = new Error('enough')
      abort.abort(reason)
      check((await thrownBy('read', () => reading)) === reason, 'it throws the reason')
      await roundTrip(opened, 16, 7)
    },
  },
  {
    id: 'aborted-beside-another',
    title: 'Aborting a plan does not affect another plan',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queues: 2, queueDepth: 3 })
      const { ns, lba, alloc } = opened
      const first = await store(opened, 256, 6)
      const second = alloc(256 * ns.blockBytes)
      const abort = new AbortController()
      const plan = readPlan(ns, lba, 256)
      const running = [ns.execute(plan, first, { signal: abort.signal }), ns.execute(plan, second)] as const
      abort.abort(new Error('one'))
      const [stopped, other] = await Promise.all(running)
      check(stopped.failures.length > 0, 'the first plan is aborted')
      allSucceeded('the other', other)
      checkData(second, 6)
    },
  },
  {
    id: 'aborted-between-retries',
    title: 'Does not retry a command after its signal is aborted',
    spec: 'ours',
    time: 'any',
    needs: withFaults(rule({ kind: 'status', sct: 0, sc: 0x82 }, readsOf(0))),
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 1, 6, KNOWN_LBA)
      const abort = new AbortController()
      const { clock } = opened.device.transport
      const running = opened.ns.execute(readPlan(opened.ns, KNOWN_LBA, 1), memory, { signal: abort.signal })
      while (opened.ctrl.statistics.retries === 0) {
        await clock.idle(clock.now() + NS_PER_MS)
        await new Promise(setImmediate)
      }
      abort.abort(new Error('waiting'))
      const { failures } = await running
      equal('outcomes', failures.length, 1)
      check(opened.ctrl.statistics.retries < 4, 'the command is not retried until its limit')
    },
  },
  {
    id: 'aborted-during-recovery',
    title: 'Does not resend a plan whose signal is aborted during a recovery',
    spec: 'ours',
    time: 'any',
    needs: withFaults(rule({ kind: 'hang' }, { ...readsOf(3), times: 1 })),
    async run(context) {
      const opened = await context.open({ queueDepth: 4, commandTimeoutNs: 200 * NS_PER_MS })
      const { ns, ctrl } = opened
      const memory = await store(opened, 64, 6, KNOWN_LBA)
      const abort = new AbortController()
      // The channel publishes an event at once; an iteration over events may receive it only after the recovery.
      const stop = () => abort.abort(new Error('recovering'))
      subscribe(EVENT_CHANNEL, stop)
      const plan = readPlan(ns, KNOWN_LBA, 64)
      const running = ns.execute(plan, memory, { signal: abort.signal, timeoutNs: 200 * NS_PER_MS })
      const { commands, succeeded, failures } = await running.finally(() => unsubscribe(EVENT_CHANNEL, stop))
      check(abort.signal.aborted, 'a recovery has begun')
      equal('outcomes', succeeded + failures.length, commands)
      equal('reads sent again', ctrl.statistics.replays, 0)
      await roundTrip(opened, 16, 7, KNOWN_LBA)
    },
  },
]

export const aborting = area('AbortSignal', abortCases)
