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
import { identify, type Decodable, type IdentifyOptions } from './identify.js'
import { errorLog, logPage, smartLog, type ErrorLog, type LogPageOptions, type SmartLog } from './log-page.js'

/**
 * Sends one admin command that returns data, up to 4 KiB, and gives that and DW0 of the completion. `values.PRP1` is for
 * the sender to set, or to leave out where the data goes another way. @throws CommandError for any status but success.
 */
export type AdminExchange = CommandQueue['exchange']

/**
 * What a `Controller` can be asked, asked by another way than queues of our own: of a drive that an operating system's
 * driver has, by what that passes on. It sends Identify, Get Log Page and Get Features, and retains asynchronous events.
 */
export class AdminReader {
  /** The 4096 bytes of Identify Controller. */
  readonly identity: { readonly raw: DataView }
  private readonly commands: AdminReads

  /** Identifies the controller: what it says decides what else may be asked. */
  static async open(exchange: AdminExchange): Promise<AdminReader> {
    const unknown = { raw: new DataView(new ArrayBuffer(0)) }
    const raw = await identify(readsBy(exchange, unknown), CNS.CONTROLLER)
    return new AdminReader(readsBy(exchange, { raw }))
  }

  private constructor(commands: AdminReads) {
    this.identity = commands.identity
    this.commands = commands
  }

  /** As `Controller.identify`. */
  async identify<T>(cns: number, structure: Decodable<T>, options?: IdentifyOptions): Promise<T> {
    return structure.decode(await identify(this.commands, cns, options))
  }

  /** As `Controller.smartLog`. */
  smartLog(options?: AdminOptions): Promise<SmartLog> {
    return smartLog(this.commands, options)
  }

  /** As `Controller.errorLog`. */
  errorLog(entries?: number, options?: AdminOptions): Promise<ErrorLog[]> {
    return errorLog(this.commands, entries, options)
  }

  /** As `Controller.logPage`. */
  logPage(lid: number, options: LogPageOptions): Promise<DataView> {
    return logPage(this.commands, lid, options)
  }

  /** As `Controller.getFeature`. */
  getFeature<F extends AnyFeature>(feature: F, options?: GetFeatureOptions<F>): Promise<FeatureValue<F>> {
    return getFeature(this.commands, feature, options)
  }

  /** As `Controller.featureCapabilities`. */
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
