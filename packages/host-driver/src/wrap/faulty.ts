import { ArmedPlan, type FaultReport } from '@gpunvme/nvme-spec/faults'
import type { ConfigSpace, FaultPlan, Interrupts, TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { Agenda } from './agenda.js'
import { checkBoundaryPlan } from './boundary-plan.js'
import { FaultyBar } from './faulty-bar.js'
import { FaultyDevice } from './faulty-device.js'

/** Options of `faulty`. */
export interface FaultyOptions {
  /** Seed of `probability`, 0 to 2^32 - 1: the same seed causes the same faults. Default: 1. */
  readonly seed?: number
  /** Receives every fault that occurs, on the track 'fault'. */
  readonly trace?: TraceSink
}

/** A transport with injected faults. */
export interface FaultyTransport extends Transport {
  /** Faults that have occurred; its lists grow during the run. */
  readonly faults: FaultReport
}

/**
 * Wraps a transport and injects the faults of a plan that a host can see at its registers. These are `lose-write`,
 * `delay-write` and `read-value` of registers; `ready-never-rises` and `ready-never-falls`; and, at a register access
 * or a time, `fatal-status`, `remove-device`, and `surprise-reset` if the transport can reset. After `remove-device`,
 * registers and configuration space read all ones and writes have no effect, also after a reset.
 *
 * A 64-bit access is two 32-bit accesses. The real controller does not know about the faults: after a `fatal-status` it
 * still completes what it has begun, and after `remove-device` its bus mastering is disabled. Faults at a time occur at
 * the host's next access or wait.
 * @throws FaultPlanError for an invalid plan, and for a rule that is not possible here, which it names; RangeError for
 *   an invalid seed. `close` throws the error of a surprise reset that failed.
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
    onInject: ({ atNs, kind, rule, where }) =>
      trace?.({ timeNs: atNs, track: 'fault', name: kind, details: { rule, where } }),
  })
  const agenda = new Agenda(clock)
  const device = new FaultyDevice(transport, plan, armed, agenda)
  return {
    name: `faulty:${transport.name}`,
    ...(transport.bdf !== undefined && { bdf: transport.bdf }),
    bar: new FaultyBar(transport.bar, device, armed, agenda),
    dma: transport.dma,
    clock: {
      now: () => clock.now(),
      idle: (untilNs) => agenda.idle(untilNs),
      get nextNs() {
        return clock.nextNs === undefined ? undefined : Math.min(clock.nextNs, agenda.nextNs)
      },
    },
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
    ...(transport.isClosed && { isClosed: () => transport.isClosed!() }),
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
