import { ArmedPlan, type FaultReport } from '@gpunvme/nvme-spec/faults'
import type { ConfigSpace, FaultPlan, Interrupts, TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { Agenda } from './agenda.js'
import { checkBoundaryPlan } from './boundary-plan.js'
import { FaultyBar } from './faulty-bar.js'
import { FaultyDevice } from './faulty-device.js'

/** How a transport is made faulty, beside the plan. */
export interface FaultyOptions {
  /** Decides what `probability` strikes: the same seed strikes the same accesses. 0 to 2^32 - 1; 1 when not given. */
  readonly seed?: number
  /** Is told of every fault that happens, on the track 'fault'. */
  readonly trace?: TraceSink
}

/** A transport with faults, and what of them has happened. */
export interface FaultyTransport extends Transport {
  /** What of the plan has really happened; its lists grow with the run. */
  readonly faults: FaultReport
}

/**
 * A transport that does what `transport` does, and what a fault plan says: the faults that a host can see at the
 * boundary, on any transport. These are `lose-write`, `delay-write` and `read-value` of registers; `ready-never-rises`
 * and `ready-never-falls`; and at an access to a register or at a time `fatal-status`, `surprise-reset` where the
 * transport can reset, and `remove-device`: from then on reads of registers and configuration space give all ones and
 * writes go nowhere, whatever is reset.
 *
 * Accesses of 64 bits are two of 32. The controller behind knows nothing of it: where CSTS.CFS is 1 by a fault it still
 * ends what it has begun, and what leaves the bus loses its bus mastering. What has its time happens when the host next
 * looks or waits.
 * @throws FaultPlanError for a plan that is none, and for a rule that cannot be done here, which it names; RangeError
 *   for a seed that is none. `close` throws what a surprise reset has failed with.
 */
export function faulty(transport: Transport, plan: FaultPlan, options: FaultyOptions = {}): FaultyTransport {
  const { seed = 1, trace } = options
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffff_ffff) {
    throw new RangeError(`seed: expected an integer from 0 to 2^32 - 1, got ${seed}`)
  }
  checkBoundaryPlan(plan, transport)
  const { clock, config, interrupts } = transport
  const armed = new ArmedPlan(plan, {
    seed,
    now: () => clock.now(),
    onStrike: ({ atNs, kind, rule, where }) =>
      trace?.({ timeNs: atNs, track: 'fault', name: kind, details: { rule, where } }),
  })
  const agenda = new Agenda(clock)
  const device = new FaultyDevice(transport, plan, armed, agenda)
  return {
    name: `faulty:${transport.name}`,
    ...(transport.bdf !== undefined && { bdf: transport.bdf }),
    bar: new FaultyBar(transport.bar, device, armed, agenda),
    dma: transport.dma,
    clock: { now: () => clock.now(), idle: (untilNs) => agenda.idle(untilNs) },
    ...(config && { config: faultyConfig(config, device, agenda) }),
    ...(interrupts && { interrupts: faultyInterrupts(interrupts, agenda) }),
    can: transport.can,
    ...(transport.movesData === false && { movesData: false }),
    wraps: transport,
    ...(transport.reset && {
      async reset(kind: 'function' | 'bus'): Promise<void> {
        agenda.catchUp()
        if (device.isGone) return
        device.reset()
        await transport.reset!(kind)
      },
    }),
    async close(): Promise<void> {
      await Promise.all(device.resets)
      await transport.close()
      if (device.resetErrors.length > 0) throw device.resetErrors[0]
    },
    faults: armed.report(),
  }
}

function faultyConfig(config: ConfigSpace, device: FaultyDevice, agenda: Agenda): ConfigSpace {
  return {
    read(offset, widthBytes) {
      agenda.catchUp()
      return device.isGone ? 2 ** (8 * widthBytes) - 1 : config.read(offset, widthBytes)
    },
    write(offset, widthBytes, value) {
      agenda.catchUp()
      if (!device.isGone) config.write(offset, widthBytes, value)
    },
  }
}

function faultyInterrupts(interrupts: Interrupts, agenda: Agenda): Interrupts {
  return {
    vectors: interrupts.vectors,
    async wait(vector, untilNs) {
      for (;;) {
        agenda.catchUp()
        const atNs = Math.min(untilNs, agenda.nextNs)
        const ended = await interrupts.wait(vector, atNs)
        if (ended === 'fired' || atNs === untilNs) return ended
      }
    },
  }
}
