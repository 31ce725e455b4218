import type { Clock, Interrupts, Transport } from '@gpunvme/nvme-spec/transport'
import { CutBar } from '../recovery/cut-bar.js'

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

/** Something may have changed when the interrupt of the completion queues comes. */
function interruptClock(clock: Clock, interrupts: Interrupts): Clock {
  return {
    now: () => clock.now(),
    idle: async (untilNs) => {
      await interrupts.wait(0, untilNs)
    },
  }
}
