import type { Controller } from '../controller/controller.js'
import type { Device } from '../controller/device.js'
import { statisticsOf, type Statistics } from '../controller/statistics.js'

/** Counters of a server over all its clients, and its current state. */
export interface VfioUserStatistics extends Statistics {
  /** Number of clients so far, including the connected one. */
  readonly clients: number
  readonly connected: boolean
  /** Number of messages of clients. */
  readonly messages: number
  /** Number of faults injected by the plan. */
  readonly faultsInjected: number
  /** Number of I/O commands that are currently in progress. */
  readonly queueDepth: number
}

/** Counters of the loop. */
export interface Connections {
  readonly clients: number
  readonly connected: boolean
  readonly messages: number
}

/** Returns the current figures. */
export function serverStatisticsOf(
  device: Device,
  controller: Controller,
  { clients, connected, messages }: Connections,
): VfioUserStatistics {
  const { hits } = device.faults.report()
  return {
    ...statisticsOf(device),
    ...{ clients, connected, messages },
    faultsInjected: hits.reduce((sum, count) => sum + count, 0),
    queueDepth: controller.ioQueueDepth,
  }
}
