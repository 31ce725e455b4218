import type { Controller } from '../controller/controller.js'
import type { Device } from '../controller/device.js'
import { statisticsOf, type Statistics } from '../controller/statistics.js'

/** What a server has done so far, over all its clients, and what it is doing. */
export interface VfioUserStatistics extends Statistics {
  /** Clients so far, with the one that is connected. */
  readonly clients: number
  readonly connected: boolean
  /** Messages of clients. */
  readonly messages: number
  /** How often rules of the fault plan have struck. */
  readonly faultsStruck: number
  /** I/O commands that were fetched and not completed, now. */
  readonly queueDepth: number
}

/** What the loop counts. */
export interface Connections {
  readonly clients: number
  readonly connected: boolean
  readonly messages: number
}

/** The figures as they stand. */
export function serverStatisticsOf(
  device: Device,
  controller: Controller,
  { clients, connected, messages }: Connections,
): VfioUserStatistics {
  const { struck } = device.faults.report()
  return {
    ...statisticsOf(device),
    ...{ clients, connected, messages },
    faultsStruck: struck.reduce((sum, count) => sum + count, 0),
    queueDepth: controller.ioQueueDepth,
  }
}
