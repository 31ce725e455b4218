import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, thrownBy } from '../check.js'
import { checkData } from '../data.js'
import { deviceIdentifiedAs } from '../identified.js'
import { requestLongestDelays, RETRIED_CALLS, retriedLater } from './retried.js'
import { area, collect, readPlan, REGISTER, store, withoutAWrite } from './support.js'
import { SECOND_NS } from '../time.js'

const { CC, CSTS } = REGISTER

/** Register accesses of close(), and calls during and after it. */
export const shutdownCases: readonly DriverCase[] = [
  {
    id: 'shutdown-notification',
    title: 'Writes CC.SHN = 01b, waits for CSTS.SHST = 10b, and only then clears CC.EN',
    spec: 'Base 2.1 §3.6.1',
    time: 'any',
    async run(context) {
      const { ctrl, device } = await context.open()
      device.accesses.length = 0
      await ctrl.close()
      const story = device.accesses.flatMap(({ kind, offset, value }) => {
        const bits = Number(value)
        if (offset === CC && kind === 'write') return (bits & 1) === 0 ? ['disabled'] : [`SHN ${(bits >>> 14) & 3}`]
        return offset === CSTS && ((bits >>> 2) & 3) === 2 ? ['complete'] : []
      })
      equal('the shutdown', [...new Set(story)], ['SHN 1', 'complete', 'disabled'])
      equal('CC.EN and CSTS.RDY', [device.transport.bar.read32(CC) & 1, device.transport.bar.read32(CSTS) & 1], [0, 0])
    },
  },
  {
    id: 'shutdown-incomplete',
    title: 'Reports an incomplete shutdown as an error, and keeps no memory',
    spec: 'Base 2.1 §3.6.1',
    time: 'virtual',
    async run(context) {
      const device = await context.device({
        bar: (bar) => ({ read32: (offset) => (offset === CSTS ? bar.read32(offset) & ~0xc : bar.read32(offset)) }),
      })
      const ctrl = await context.bringUp(device.transport)
      await context.expectRejected('close', () => ctrl.close(), {
        code: 'ERR_GPUNVME_SHUTDOWN_INCOMPLETE',
        says: 'CSTS.SHST is not 10b',
      })
      equal('bytes kept', device.heldBytes, 0)
      equal('CC.EN', device.transport.bar.read32(CC) & 1, 0)
    },
  },
  {
    id: 'close-twice',
    title: 'Closes once if close() is called twice, concurrently or later',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const { ctrl, device } = await context.open()
      await Promise.all([ctrl.close(), ctrl.close()])
      await withoutAWrite(device, () => ctrl.close())
    },
  },
  {
    id: 'dispose',
    title: 'Shuts a controller down at the end of the block of `await using`, also after an error',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const device = await context.device()
      const fails = async () => {
        await using ctrl = await context.openReadOnly(device)
        throw new Error(`inside ${ctrl.identity.serial}`)
      }
      const thrown = await thrownBy('the block', fails)
      equal('its error', (thrown as Error).message, `inside ${device.serial}`)
      equal('bytes kept', device.heldBytes, 0)
      equal('CC.EN', device.transport.bar.read32(CC) & 1, 0)
    },
  },
  {
    id: 'close-under-load',
    title: 'Completes commands in flight when a controller is closed, and rejects later calls',
    spec: 'blktests nvme/032',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queues: 2, queueDepth: 4 })
      const { ns, ctrl, lba, device } = opened
      const memory = await store(opened, 256, 4)
      const running = ns.execute(readPlan(ns, lba, 256), memory)
      const closing = ctrl.close()
      await context.expectRejected('read', () => ns.read(lba, 1, memory), {
        code: 'ERR_GPUNVME_CONTROLLER_CLOSED',
        says: 'closed',
      })
      allSucceeded('reads', await running)
      await closing
      checkData(memory, 4)
      check((device.transport.bar.read32(CC) & 1) === 0, 'the controller is disabled')
    },
  },
  ...RETRIED_CALLS.map(({ id, what, match, code, run }): DriverCase => ({
    id: `close-during-retry-${id}`,
    title: `close() ends the delay before ${what} is retried`,
    spec: 'ours',
    time: 'virtual',
    needs: retriedLater(match),
    async run(context) {
      const device = await deviceIdentifiedAs(context, requestLongestDelays)
      const opened = await context.open({}, undefined, device)
      const { ctrl, alloc } = opened
      const { clock } = device.transport
      const startNs = clock.now()
      const running = context.expectRejected(what, () => run(opened, alloc(4096), { timeoutNs: 3600 * SECOND_NS }), {
        code,
      })
      while (ctrl.statistics.retries === 0) await nextTurn()
      await Promise.all([ctrl.close(), running])
      const tookNs = clock.now() - startNs
      check(tookNs < SECOND_NS, `both calls end within 1 s, got ${tookNs / SECOND_NS} s`)
    },
  })),
  {
    id: 'closed',
    title: 'Rejects every call after close(), and names the reason; submits nothing',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const { ns, ctrl, device, alloc } = await context.open()
      const memory = alloc(8192)
      await ctrl.close()
      const closed = { code: 'ERR_GPUNVME_CONTROLLER_CLOSED', says: 'closed' } as const
      await withoutAWrite(device, async () => {
        await context.expectRejected('read', () => ns.read(0, 1, memory), closed)
        await context.expectRejected('execute', () => ns.execute(readPlan(ns, 0, 4), memory), closed)
        await context.expectRejected('flush', () => ns.flush(), closed)
        await context.expectRejected('readBytes', () => ns.readBytes(0, 10), closed)
      })
    },
  },
  {
    id: 'memory-after-close',
    title: 'Leaves the memory of callers readable after close, and lets them free it',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const memory = await store(opened, 8, 5)
      await opened.ns.read(opened.lba, 8, memory)
      await opened.ctrl.close()
      checkData(memory, 5)
      equal('bytes held', opened.device.heldBytes, memory.lengthBytes)
    },
  },
  {
    id: 'close-in-an-idle-moment',
    title: 'close() ends the sequence of events',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const { ctrl } = await context.open()
      const both = Promise.all([collect(ctrl.events()), collect(ctrl.events())])
      await ctrl.close()
      equal(
        'events',
        (await both).map((events) => events.filter(({ kind }) => kind === 'recovery').length),
        [0, 0],
      )
    },
  },
]

export const shutdowns = area('shutdown', shutdownCases)
