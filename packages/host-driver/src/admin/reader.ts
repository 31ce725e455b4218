import { CNS } from '@gpunvme/nvme-spec'
import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import type { CommandQueue } from '../commands/command-queue.js'
import type { AdminOptions, AdminReads } from './admin-commands.js'
import {
  featureCapabilities,
  getFeature,
  type FeatureCapabilities,
  type FeatureValue,
  type GetFeatureOptions,
} from './features.js'
import { identify, identifyAs, type Decodable, type IdentifyOptions } from './identify.js'
import { errorLog, logPage, smartLog, type ErrorLog, type LogPageOptions, type SmartLog } from './log-page.js'

/**
 * Sends one Admin command that returns up to 4 KiB of data; returns the data and dword 0 of the completion. The sender
 * sets `values.PRP1`, or omits it if the data takes another path.
 * @throws CommandError for any status but success.
 */
export type AdminExchange = CommandQueue['exchange']

/**
 * Reads from a controller by other means than the queues of this driver, for example through an operating system's
 * driver. Sends Identify, Get Log Page and Get Features; asynchronous events are retained.
 */
export class AdminReader {
  /** The 4096 bytes of Identify Controller. */
  readonly identity: { readonly raw: DataView }
  private readonly commands: AdminReads

  /** Identifies the controller, whose data says which other commands it supports. */
  static async open(exchange: AdminExchange): Promise<AdminReader> {
    const unknown = { raw: new DataView(new ArrayBuffer(0)) }
    const raw = await identify(readsBy(exchange, unknown), CNS.CONTROLLER)
    return new AdminReader(readsBy(exchange, { raw }))
  }

  private constructor(commands: AdminReads) {
    this.identity = commands.identity
    this.commands = commands
  }

  /** Same as `Controller.identify`. */
  identify<T>(cns: number, structure: Decodable<T>, options?: IdentifyOptions): Promise<T> {
    return identifyAs(this.commands, cns, structure, options)
  }

  /** Same as `Controller.smartLog`. */
  smartLog(options?: AdminOptions): Promise<SmartLog> {
    return smartLog(this.commands, options)
  }

  /** Same as `Controller.errorLog`. */
  errorLog(entries?: number, options?: AdminOptions): Promise<ErrorLog[]> {
    return errorLog(this.commands, entries, options)
  }

  /** Same as `Controller.logPage`. */
  logPage(lid: number, options: LogPageOptions): Promise<DataView> {
    return logPage(this.commands, lid, options)
  }

  /** Same as `Controller.getFeature`. */
  getFeature<F extends AnyFeature>(feature: F, options?: GetFeatureOptions<F>): Promise<FeatureValue<F>> {
    return getFeature(this.commands, feature, options)
  }

  /** Same as `Controller.featureCapabilities`. */
  featureCapabilities(
    feature: AnyFeature,
    options?: AdminOptions & { readonly nsid?: number },
  ): Promise<FeatureCapabilities> {
    return featureCapabilities(this.commands, feature, options)
  }
}

function readsBy(exchange: AdminExchange, identity: AdminReads['identity']): AdminReads {
  return { identity, repeat: (run) => run({ exchange }) }
}
