import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { ADMIN_DATA_BYTES } from '../bring-up/session.js'
import { guardErase, type WriteRequest } from '../guard/guard.js'
import { namespaceNotFound, type NamespaceSet } from '../namespace/namespace-set.js'
import type { RunningController } from '../running/running-controller.js'
import { WritableNamespace } from '../namespace/writable-namespace.js'
import { checkOptions } from '../check-options.js'
import { adminOptions, ALL_NAMESPACES, type AdminOptions } from '../admin/admin-commands.js'
import { allNamespaces, checkFormat, reachOfFormat, sendFormat, type FormatOptions } from './format.js'
import { attachment, checkManaged, createNamespace, deleteNamespace, type NewNamespace } from './namespaces.js'
import {
  checkRaw,
  mayChangeBlocks,
  mayErase,
  sendRaw,
  type RawCommand,
  type RawOptions,
  type RawResult,
} from './raw.js'
import { checkRawData } from './raw-data.js'
import { setFeature, type SetFeatureOptions } from './set-feature.js'

/**
 * Commands that change a drive beyond the blocks of a namespace. Only a handle opened with
 * `{ write: { serial }, manage: true }` has it. Commands that may destroy data first search for foreign data, as a
 * write does.
 */
export class Management {
  private readonly controller: RunningController
  private readonly namespaces: NamespaceSet
  private readonly write: WriteRequest

  /** @internal */
  constructor(controller: RunningController, namespaces: NamespaceSet, write: WriteRequest) {
    this.controller = controller
    this.namespaces = namespaces
    this.write = write
  }

  /** Allocator of memory for the data of `submitAdmin` and `submitIo`. */
  get dma(): DmaAllocator {
    return this.controller.session.lent
  }

  /**
   * Sets a feature by its declaration in nvme-spec: `setFeature(VolatileWriteCache, { CDW11: { WCE: 1 } })`.
   * @throws TypeError for a feature that the driver relies on, such as Number of Queues; CommandError.
   */
  setFeature<F extends AnyFeature>(feature: F, options: SetFeatureOptions<F>): Promise<void> {
    return setFeature(this.controller, feature, options)
  }

  /**
   * Formats a namespace. Destroys its data and, with some controllers (FNA), that of all other namespaces, which are
   * then searched as well. Its `Namespace` object then has the new format. May take minutes. Default time limit: 10
   * minutes.
   * @throws ForeignDataError; RangeError for a format that the namespace does not list; CommandError; DriverError
   *   (NAMESPACE_BUSY while transfers of the namespace are in progress, UNSUPPORTED_COMMAND, UNKNOWN_FATE).
   */
  async format(nsid: number, options: FormatOptions): Promise<void> {
    const { controller } = this
    controller.checkOpen()
    const namespace = this.attached(nsid)
    checkFormat(controller, namespace.identity.raw, options)
    const reached = await reachOfFormat(controller, nsid, options, this.nsids())
    // Before the search, which would be rejected as well; and again after it.
    controller.inUse.checkFree(reached)
    for (const each of reached) await this.guardErase(each)
    await this.taking(reached, 'its format', () => sendFormat(controller, nsid, options))
  }

  /**
   * Creates a namespace, which is not attached to any controller, and returns its NSID.
   * @throws CommandError; DriverError (UNSUPPORTED_COMMAND, UNKNOWN_FATE).
   */
  createNamespace(wanted: NewNamespace, options?: AdminOptions): Promise<number> {
    return createNamespace(this.controller, wanted, options)
  }

  /**
   * Deletes a namespace and its data. A namespace that is not attached cannot be searched: `overwrite` must then
   * include `UNREADABLE_DATA`.
   * @throws same as `format`; DriverError (NAMESPACE_NOT_FOUND) if it is not allocated.
   */
  async deleteNamespace(nsid: number, options: AdminOptions = {}): Promise<void> {
    const { controller } = this
    controller.checkOpen()
    checkOptions('deleteNamespace', options, adminOptions)
    checkManaged(controller)
    const allocated = await allNamespaces(controller, this.nsids())
    if (!allocated.includes(oneNamespace(nsid))) {
      const found = allocated.map((each) => ({ nsid: each }))
      throw namespaceNotFound(nsid, found, 'allocated')
    }
    await this.guardErase(nsid)
    await this.taking([nsid], 'its deletion', () => deleteNamespace(controller, nsid, options))
  }

  /**
   * Attaches controllers to a namespace, by their identifiers (CNTLID). Default: this controller.
   * @throws CommandError; DriverError (UNSUPPORTED_COMMAND, UNKNOWN_FATE).
   */
  async attach(nsid: number, controllers?: number[], options: AdminOptions = {}): Promise<void> {
    const { controller } = this
    checkOptions('attach', options, adminOptions)
    await this.changing([nsid], () => attachment(controller, oneNamespace(nsid), 'attach', controllers, options))
  }

  /** Detaches controllers from a namespace. @throws same as `attach`; DriverError (NAMESPACE_BUSY). */
  async detach(nsid: number, controllers?: number[], options: AdminOptions = {}): Promise<void> {
    const { controller } = this
    checkOptions('detach', options, adminOptions)
    await this.taking([nsid], 'its detachment', () =>
      attachment(controller, oneNamespace(nsid), 'detach', controllers, options),
    )
  }

  /**
   * Sends any Admin command that nvme-spec declares, once, and returns its result. Commands that may erase namespaces
   * (Format NVM, Sanitize, Namespace Management) first search all of them.
   * @throws TypeError for a command reserved for the driver, such as Create I/O Submission Queue; ForeignDataError;
   *   RangeError for data that is too long, too short or misaligned; CommandTimeoutError or DeviceLostError, after
   *   which the command may or may not have been executed.
   */
  async submitAdmin<V>(command: RawCommand<V>, values: V, options: RawOptions = {}): Promise<RawResult> {
    const { controller } = this
    checkRaw(command, 'admin', controller.session.lent, options)
    checkRawData(command, values as object, options)
    const send = () =>
      sendRaw(
        (run) => controller.once(run),
        command,
        values,
        options,
        Math.min(ADMIN_DATA_BYTES, controller.session.maxTransferBytes),
      )
    if (!mayErase(command)) return send()
    controller.checkOpen()
    const reached = await allNamespaces(controller, this.nsids())
    for (const nsid of reached) await this.guardErase(nsid)
    return this.taking(reached, command.name, send)
  }

  /**
   * Sends any I/O command that nvme-spec declares, once, and returns its result. A command that may change blocks first
   * passes the guard of its namespace.
   * @throws same as `submitAdmin`.
   */
  async submitIo<V extends { readonly NSID?: number }>(
    command: RawCommand<V>,
    values: V,
    options: RawOptions = {},
  ): Promise<RawResult> {
    const { controller } = this
    checkRaw(command, 'io', controller.session.lent, options)
    const { NSID: nsid = 0 } = values
    const identity = this.writable.find((each) => each.nsid === nsid)?.identity
    // With metadata, beside the blocks or between them, the length of a command's data is not known here.
    checkRawData(
      command,
      values as object,
      options,
      identity?.unsupported === undefined ? identity?.blockBytes : undefined,
    )
    if (mayChangeBlocks(command)) {
      for (const namespace of this.writable) {
        if (namespace.nsid === nsid || nsid === ALL_NAMESPACES) await namespace.passGuard()
      }
    }
    return sendRaw((run) => controller.onceIo(nsid, run), command, values, options, controller.session.maxTransferBytes)
  }

  /** Runs an action that takes namespaces away; they can be used again when they are identified. */
  private taking<T>(nsids: readonly number[], what: string, action: () => Promise<T>): Promise<T> {
    return this.controller.inUse.taking(nsids, what, () => this.changing(nsids, action))
  }

  /** Runs an action, then identifies the namespaces again, whatever the outcome. */
  private async changing<T>(nsids: readonly number[], action: () => Promise<T>): Promise<T> {
    let result: T
    try {
      result = await action()
    } catch (error) {
      // The first error is reported.
      await this.controller.namespacesChanged(nsids).catch(() => undefined)
      throw error
    }
    await this.controller.namespacesChanged(nsids)
    return result
  }

  private attached(nsid: number): WritableNamespace {
    const { writable } = this
    const found = writable.find((namespace) => namespace.nsid === nsid)
    // Identify of an inactive namespace returns zeros: it was detached after it was listed.
    if (found === undefined || found.blocks === 0) throw namespaceNotFound(nsid, writable)
    return found
  }

  /** Attached namespaces. */
  private get writable(): readonly WritableNamespace[] {
    return this.namespaces.active.filter((each) => each instanceof WritableNamespace)
  }

  /** Searches a namespace, attached or not, before it is erased. @throws ForeignDataError */
  private guardErase(nsid: number): Promise<void> {
    return guardErase(this.namespaces.attachedOrNot(nsid), this.write)
  }

  private nsids(): number[] {
    return this.writable.map(({ nsid }) => nsid)
  }
}

/** Checks the NSID of one namespace. @throws RangeError */
function oneNamespace(nsid: number): number {
  if (Number.isInteger(nsid) && nsid >= 1 && nsid < ALL_NAMESPACES) return nsid
  throw new RangeError(`nsid: expected 1 to ${ALL_NAMESPACES - 1}, got ${nsid}`)
}
