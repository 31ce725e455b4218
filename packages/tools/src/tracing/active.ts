import { traced } from '@gpunvme/host-driver'
import type { TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { OpenedTransport } from '../drive/opened-transport.js'

interface Trace {
  readonly sink: TraceSink
  /** How many transports were opened so far. */
  opened: number
}

/** The trace that the verb which is running was called for; none without `gpunvme trace`. */
const active = new AsyncLocalStorage<Trace>()

/** Runs `use`; what the transports that it opens do goes to `sink`. */
export function traceInto<T>(sink: TraceSink, use: () => Promise<T>): Promise<T> {
  return active.run({ sink, opened: 0 }, use)
}

/** Whether a trace is being taken. */
export function isTraced(): boolean {
  return active.getStore() !== undefined
}

/**
 * The transport for a verb to use: itself, or while a trace is taken one that it listens to. A verb may open several, and
 * each has a clock of its own: the tracks of those after the first begin with their number, '2: sq 1'.
 * @param time what its clock counts. The trace says so in its first event, as its times mean nothing without it.
 */
export function wrapTraced(transport: Transport, time: OpenedTransport['time']): Transport {
  const trace = active.getStore()
  if (trace === undefined) return transport
  const number = ++trace.opened
  const prefix = number === 1 ? '' : `${number}: `
  const sink: TraceSink = (event) => trace.sink({ ...event, track: `${prefix}${event.track}` })
  const { name, bdf, clock } = transport
  sink({ timeNs: clock.now(), track: 'trace', name: 'open', details: { transport: name, ...(bdf && { bdf }), time } })
  return traced(transport, sink)
}
