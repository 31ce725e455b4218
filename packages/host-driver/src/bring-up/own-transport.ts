import type { Clock, Interrupts, Transport } from '@gpunvme/nvme-spec/transport'
import { CutBar } from '../recovery/cut-bar.js'
import { NS_PER_MS } from '../wait.js'

/** What the driver uses of a transport: its registers until the device is lost, and its clock or its interrupts to wait by. */
export interface OwnTransport {
  readonly name: string
  readonly bar: CutBar
  readonly clock: Clock
  readonly whole: Transport
  /** The vector that all completion queues signal; undefined where they are polled. */
  readonly vector: number | undefined
}

/** @throws TypeError for interrupts that the transport has not. */
export function ownTransport(transport: Transport, withInterrupts: boolean): OwnTransport {
  const { name, interrupts } = transport
  const bar = new CutBar(transport.bar)
  if (!withInterrupts) return { name, bar, clock: transport.clock, whole: transport, vector: undefined }
  if (interrupts === undefined) {
    throw new TypeError(`interrupts: transport ${name} has none; open without { interrupts: true } to poll`)
  }
  return { name, bar, clock: interruptClock(transport.clock, interrupts), whole: transport, vector: 0 }
}

/** How often a transport that is waited for by interrupts gets its own turn: PollingClock looks for removal in it. */
const OWN_TURN_NS = 100 * NS_PER_MS

/**
 * Something may have changed when the interrupt of the completion queues comes. The clock of the transport goes on being
 * asked to idle, since what a transport looks after it does there: a device that is gone sends no interrupt.
 */
function interruptClock(clock: Clock, interrupts: Interrupts): Clock {
  let turnNs = clock.now() + OWN_TURN_NS
  return {
    now: () => clock.now(),
    idle: async (untilNs) => {
      await interrupts.wait(0, Math.min(untilNs, turnNs))
      const now = clock.now()
      if (now < turnNs) return
      turnNs = now + OWN_TURN_NS
      await clock.idle(now)
    },
  }
}
