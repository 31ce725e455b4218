import { diagnosticsChannel } from '@gpunvme/nvme-spec/runtime'

/** What became of a request for an extent. */
export interface LoadEvent {
  readonly kind: 'requested' | 'loading' | 'passed over' | 'ready' | 'leased' | 'released' | 'failed'
  readonly model: string
  /** The extent's name, and how many its loader was asked for before it. */
  readonly extent: string
  readonly index: number
  /** By the store's clock. */
  readonly timeNs: number
  /** Which slot it has, and the slot's generation; absent where it has none. */
  readonly slot?: number
  readonly generation?: number
  readonly error?: unknown
}

/** Every event of every loader is published here: for loggers and metrics. */
export const LOAD_CHANNEL = 'gpunvme:load'
const diagnostics = diagnosticsChannel(LOAD_CHANNEL)

/** Costs nothing where nobody listens: then not even the event is made. */
export function publish(event: () => LoadEvent): void {
  if (diagnostics.hasSubscribers) diagnostics.publish(event())
}
