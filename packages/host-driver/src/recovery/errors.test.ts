import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { simulate } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch, OutcomeSummary } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../controller.js'
import { EVENT_CHANNEL } from '../events/event-hub.js'
import { throwOnFailure, TransferError } from '../namespace/transfer-error.js'
import { formatDuration } from '../wait.js'

const READ = 0x02
const ABORT = 0x08
const DELETE_SQ = 0x00

const rule = (action: FaultAction, match: FaultMatch) => ({ match, action })

/** Returns a transport whose controller stops responding at the first read, and cannot be reset. */
function unrecoverable() {
  const { transport } = simulate({
    profile: 'sn740',
    faults: {
      rules: [
        rule({ kind: 'hang' }, { qid: 1, opcode: READ, nth: 1 }),
        rule({ kind: 'hang' }, { qid: 0, opcode: ABORT }),
        rule({ kind: 'hang' }, { qid: 0, opcode: DELETE_SQ }),
        rule({ kind: 'ready-never-falls' }, { fromNs: 1_000_000_000 }),
      ],
    },
  })
  const { name, bar, dma, clock, can } = transport
  return { name, bar, dma, clock, can, close: () => transport.close() }
}

async function errorOf(action: () => Promise<unknown>): Promise<Error> {
  try {
    await action()
  } catch (error) {
    return error as Error
  }
  throw new Error('expected an error')
}

test('every error after the loss of a controller has the reason, the last CSTS and the next step', async () => {
  const transport = unrecoverable()
  const ctrl = await Controller.open(transport)
  const ns = ctrl.namespace(1)
  const { message } = await errorOf(() => ns.readBytes(0, 512))
  expect(transport.bar.read32(0x1c)).toBe(1)
  expect(message).toMatch(/^Read failed: the controller was lost: abort: .*; controller-reset: .*CSTS\.RDY/)
  expect(message).toContain('function-reset: this transport cannot reset the function')
  expect(message).not.toContain('all ones')
  expect(message).toContain('Try: power-cycle the drive')
  const later = await errorOf(() => ns.readBytes(0, 512))
  expect(later).toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST', category: 'device', csts: 1 })
  expect(later.message).toMatch(/^Controller .* was lost: abort: .*\n {2}CSTS=0x00000001 /)
  expect(later.message).toContain('Try: power-cycle the drive')
  await ctrl.close()
})

test('a plan that waits while the controller is lost ends with the same CSTS and reason', async () => {
  const ctrl = await Controller.open(unrecoverable(), { queues: 1, queueDepth: 1 })
  const ns = ctrl.namespace(1)
  const plan = ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }])
  // The gate is closed from the first step on, so that new plans wait for the result.
  const second = new Promise<OutcomeSummary>((resolve, reject) => {
    const whenItBegins = () => {
      unsubscribe(EVENT_CHANNEL, whenItBegins)
      ns.execute(plan, ns.dma.alloc(4096)).then(resolve, reject)
    }
    subscribe(EVENT_CHANNEL, whenItBegins)
  })
  const first = await ns.execute(plan, ns.dma.alloc(4096), { timeoutNs: 1_000_000_000 })
  for (const { failures } of [first, await second]) {
    expect(failures).toHaveLength(1)
    expect(failures[0]!.outcome).toMatchObject({ kind: 'device-lost', csts: 1 })
    expect(failures[0]!.outcome).toHaveProperty('reason', expect.stringContaining('controller-reset: '))
  }
  await ctrl.close()
})

test('a command cut short by a recovery limit reports the time it waited, not its own time limit', async () => {
  const ctrl = await Controller.open(unrecoverable(), { recovery: { queuesNs: 3_000_000_000 } })
  const { message } = await errorOf(() => ctrl.namespace(1).readBytes(0, 512))
  expect(message).toContain('Delete I/O Submission Queue got no completion in 3 s')
  await ctrl.close()
})

test('the error of a removed device names power and slot as the next step', async () => {
  const { transport } = simulate({
    profile: 'sn740',
    faults: { rules: [rule({ kind: 'remove-device' }, { qid: 1, opcode: READ, nth: 1 })] },
  })
  const ctrl = await Controller.open(transport)
  const { message } = await errorOf(() => ctrl.namespace(1).readBytes(0, 512))
  expect(message).toContain('Read failed: the controller was lost: every register reads all ones')
  expect(message).toContain('Try: check that the drive has power and sits in its slot')
  await ctrl.close()
})

test('the error of a hanging read that was aborted has the reason as its cause, and mentions no replay', async () => {
  const { transport } = simulate({
    profile: 'sn740',
    faults: { rules: [rule({ kind: 'hang' }, { qid: 1, opcode: READ, nth: 1 })] },
  })
  const ctrl = await Controller.open(transport)
  const stop = new AbortController()
  const reading = errorOf(() => ctrl.namespace(1).readBytes(0, 512, { signal: stop.signal }))
  // The first event is the first step of the recovery.
  const abort = () => {
    unsubscribe(EVENT_CHANNEL, abort)
    stop.abort(new Error('enough'))
  }
  subscribe(EVENT_CHANNEL, abort)
  const { message, cause } = await reading
  expect(message.split('\n')).toEqual([
    'Read failed: no completion in 10 s',
    expect.stringMatching(/^ {2}CID 0x[0-9a-f]{4} {2}qid 1 {2}NSID 1 {2}SLBA 0x0 {2}1 block$/),
    '  the transfer was aborted: commands that had not succeeded were not sent again',
    '  Try: repeat the transfer',
  ])
  expect(cause).toEqual(new Error('enough'))
  expect(ctrl.statistics.replays).toBe(0)
  await ctrl.close()
})

test('the error of a read without a completion states how often it was sent again', async () => {
  const { transport } = simulate({
    profile: 'sn740',
    faults: { rules: [rule({ kind: 'hang' }, { qid: 1, opcode: READ, lba: [0, 7] })] },
  })
  const ctrl = await Controller.open(transport)
  const { message } = await errorOf(() => ctrl.namespace(1).read(0, 8, ctrl.namespace(1).dma.alloc(4096)))
  expect(message).toMatch(/^Read failed: no completion in 10 s, nor when it was sent again 2 times\n.* {2}8 blocks\n/)
  await ctrl.close()
})

test('the error of a read that exceeds its own time limit shows it in a short unit, and names timeoutNs first', async () => {
  const ctrl = await Controller.open(simulate({ profile: 'sn740' }).transport)
  const ns = ctrl.namespace(1)
  const { message } = await errorOf(() => ns.read(0, 8, ns.dma.alloc(4096), { timeoutNs: 1000 }))
  expect(message).toMatch(/^Read failed: no completion in 1 µs, nor when it was sent again 2 times\n/)
  expect(message).toContain('Try: raise timeoutNs if the drive needs longer, or use other blocks')
  await ctrl.close()
})

test.each([
  [999, '999 ns'],
  [1500, '1.5 µs'],
  [2.5e6, '2.5 ms'],
  [60e9, '60 s'],
])('%d ns is formatted as %s', (ns, text) => {
  expect(formatDuration(ns)).toBe(text)
})

test('the error of an engine without recovery suggests opening the controller again', () => {
  const one = { operation: 'read', nsid: 1, blockBytes: 512, commands: 1 } as const
  const plan = {
    ...one,
    slba: Float64Array.of(0),
    blocks: Uint32Array.of(1),
    offsetBytes: Float64Array.of(0),
    queue: Uint16Array.of(0),
  }
  const outcome = { kind: 'device-lost', csts: 3 } as const
  const failures = [{ command: 0, qid: 1, cid: 0, outcome }]
  const summary = { commands: 1, succeeded: 0, bytes: 0, failures, startNs: 0, endNs: 0 }
  expect(() => {
    throwOnFailure(plan, summary)
  }).toThrow(TransferError)
  expect(new TransferError(plan, summary).message).toContain('Try: open the controller again')
})
