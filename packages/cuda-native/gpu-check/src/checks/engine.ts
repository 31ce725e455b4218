import { setTimeout as sleep } from 'node:timers/promises'
import { equal, equalBytes, fail, type Check } from '../check.js'
import { content } from '../content.js'
import { KIB, MIB, type CheckContext } from '../context.js'
import { bytesOf } from '../memory.js'
import { allSucceeded, transfersOf } from '../plans.js'

const COMMANDS = 64
const BYTES = 4 * KIB

async function opened(context: CheckContext, lingerNs: number) {
  const media = content(COMMANDS * BYTES, 8)
  const drive = await context.drive(media, 4 * MIB)
  const engine = context.engine(drive.transport, { lingerNs })
  const { controller, namespace } = await context.open(drive, { queues: 2, queueDepth: 16 }, engine)
  const memory = namespace.dma.alloc(COMMANDS * BYTES)
  const plan = namespace.planReads(transfersOf(COMMANDS, BYTES))
  const read = async () => {
    bytesOf(memory).fill(0xa5)
    allSucceeded('reads', await namespace.execute(plan, memory))
    equalBytes('reads', bytesOf(memory), media)
  }
  return { controller, engine, read, drive }
}

const persistent: Check = {
  id: 'persistent-kernel',
  title: 'A persistent kernel executes plan after plan, reports progress, and ends on request',
  limitMs: 60_000,
  async run(context) {
    const { controller, engine, read, drive } = await opened(context, Infinity)
    const plans = 8
    let beats = 0
    for (let index = 0; index < plans; index++) {
      await read()
      // The heartbeat must advance between plans too: only a running kernel increments it.
      const before = engine.heartbeat
      for (let waits = 0; engine.heartbeat === before; waits++) {
        if (waits === 2000) fail('the heartbeat does not advance while the kernel is idle')
        await sleep(1)
      }
      beats += engine.heartbeat - before
    }
    const startMs = performance.now()
    await controller.close()
    const closeMs = performance.now() - startMs
    equal('the heartbeat of an engine without queues', engine.heartbeat, 0)
    equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
    return { plans, beats, closeMs: Math.round(closeMs) }
  },
}

const lingering: Check = {
  id: 'detach-while-lingering',
  title: 'An engine whose kernels linger releases its queues immediately, and the next controller can be served',
  limitMs: 60_000,
  async run(context) {
    const times: number[] = []
    for (let round = 0; round < 3; round++) {
      // Far longer than the time limit of this check.
      const { controller, read } = await opened(context, 3600e9)
      await read()
      const startMs = performance.now()
      await controller.close()
      times.push(Math.round(performance.now() - startMs))
    }
    return { closeMs: times }
  },
}

const ends: Check = {
  id: 'kernel-ends-and-starts',
  title: 'An idle kernel ends by itself, and is launched again for the next plan',
  limitMs: 60_000,
  async run(context) {
    const { controller, engine, read } = await opened(context, 0)
    for (let round = 0; round < 8; round++) {
      await read()
      await sleep(2)
    }
    await controller.close()
    return { commands: engine.statistics.commands, doorbellWrites: engine.statistics.doorbellWrites }
  },
}

/** Start and end of kernels that serve queues. */
export const engineChecks: readonly Check[] = [persistent, lingering, ends]
