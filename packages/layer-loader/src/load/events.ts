import { diagnosticsChannel } from '@gpunvme/nvme-spec/runtime'

/** State change of a request for an extent. */
export interface LoadEvent {
  readonly kind: 'requested' | 'loading' | 'preempted' | 'ready' | 'leased' | 'released' | 'failed'
  readonly model: string
  /** Name of the store: 'namespace 1', a path; 'host memory' for copies to the GPU. */
  readonly store: string
  /** Name of the extent. `index` is the number of earlier requests of its loader. */
  readonly extent: string
  readonly index: number
  /** Time of the store's clock, in nanoseconds. */
  readonly timeNs: number
  /** Index and generation of the slot; absent without a slot. */
  readonly slot?: number
  readonly generation?: number
  readonly error?: unknown
}

/** Diagnostics channel that receives the events of all loaders: for logs and metrics. */
export const LOAD_CHANNEL = 'gpunvme:load'
const diagnostics = diagnosticsChannel(LOAD_CHANNEL)

/** Publishes an event, which is created only if the channel has subscribers. */
export function publish(event: () => LoadEvent): void {
  if (diagnostics.hasSubscribers) diagnostics.publish(event())
}
