import { traced } from '@gpunvme/host-driver'
import type { TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { AsyncLocalStorage } from 'node:async_hooks'

interface Trace {
  readonly sink: TraceSink
  /** Number of transports opened so far. */
  opened: number
}

/** Trace of the running verb; undefined without `gpunvme nvme trace`. */
const active = new AsyncLocalStorage<Trace>()

/** Runs `use` with a trace of all transports that it opens. */
export function traceInto<T>(sink: TraceSink, use: () => Promise<T>): Promise<T> {
  return active.run({ sink, opened: 0 }, use)
}

/** Returns whether a trace is active. */
export function isTraced(): boolean {
  return active.getStore() !== undefined
}

/**
 * Returns the transport for a verb: unchanged, or wrapped while a trace is active. A verb may open several, each with
 * its own clock: tracks of further ones begin with their number, '2: sq 1'.
 * @param time kind of its clock, recorded in the first event, since times are meaningless without it.
 */
export function wrapTraced(transport: Transport, time: 'modelled' | 'wall'): Transport {
  const trace = active.getStore()
  if (trace === undefined) return transport
  const number = ++trace.opened
  const prefix = number === 1 ? '' : `${number}: `
  const sink: TraceSink = (event) => trace.sink({ ...event, track: `${prefix}${event.track}` })
  const { name, bdf, clock } = transport
  sink({ timeNs: clock.now(), track: 'trace', name: 'open', details: { transport: name, ...(bdf && { bdf }), time } })
  return traced(transport, sink)
}
