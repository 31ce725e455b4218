import type { Clock, Interrupts, Transport } from '@gpunvme/nvme-spec/transport'
import { CutBar } from './cut-bar.js'
import { NS_PER_MS } from '../wait.js'

/** Parts of a transport that the driver uses: registers until the device is lost, and a clock or interrupts to wait. */
export interface OwnTransport {
  readonly name: string
  readonly bar: CutBar
  readonly clock: Clock
  readonly underlying: Transport
  /** Vector that all completion queues signal; undefined if they are polled. */
  readonly vector: number | undefined
}

/** @throws TypeError if interrupts are requested and the transport has none. */
export function ownTransport(transport: Transport, withInterrupts: boolean): OwnTransport {
  const { name, interrupts } = transport
  const bar = new CutBar(transport.bar)
  if (!withInterrupts) return { name, bar, clock: transport.clock, underlying: transport, vector: undefined }
  if (interrupts === undefined) {
    throw new TypeError(`interrupts: transport ${name} has none; open without { interrupts: true } to poll`)
  }
  return { name, bar, clock: interruptClock(transport.clock, interrupts), underlying: transport, vector: 0 }
}

/**
 * Interval at which the transport's own clock runs while an interrupt is awaited: PollingClock detects removal then.
 */
const OWN_TURN_NS = 100 * NS_PER_MS

/**
 * Returns a clock that waits for the interrupt of the completion queues. An interrupt ends all pending waits, since a
 * transport reports it to only one of them. The transport's own clock still runs, because a transport checks its device
 * there: a removed device sends no interrupt.
 */
function interruptClock(clock: Clock, interrupts: Interrupts): Clock {
  let turnNs = clock.now() + OWN_TURN_NS
  const waits = new Set<() => void>()
  const wait = (untilNs: number) =>
    new Promise<void>((resolve, reject) => {
      waits.add(resolve)
      interrupts.wait(0, untilNs).then((ended) => {
        waits.delete(resolve)
        resolve()
        if (ended !== 'fired') return
        for (const end of waits) end()
        waits.clear()
      }, reject)
    })
  return {
    now: () => clock.now(),
    get nextNs() {
      return clock.nextNs
    },
    idle: async (untilNs) => {
      await wait(Math.min(untilNs, turnNs))
      const now = clock.now()
      if (now < turnNs) return
      turnNs = now + OWN_TURN_NS
      await clock.idle(now)
    },
  }
}
