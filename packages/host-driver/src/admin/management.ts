import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue } from '../commands/command-queue.js'
import type { NamespacesInUse } from '../namespace/in-use.js'
import type { WritableNamespace } from '../namespace/writable-namespace.js'
import { NamespaceNotFoundError } from '../namespace/errors.js'
import { checkOptions } from '../check-options.js'
import { adminOptions, ALL_NAMESPACES, type AdminCommands, type AdminOptions } from './admin-commands.js'
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

/** What `Management` needs of a controller. */
export interface ManagementHost {
  readonly admin: AdminCommands
  readonly dma: DmaAllocator
  /** Maximum data length of one command on each kind of queue. */
  readonly mostBytes: { readonly admin: number; readonly io: number }
  readonly inUse: NamespacesInUse
  /** Attached namespaces. */
  readonly namespaces: readonly WritableNamespace[]
  /** @throws ControllerClosedError */
  checkOpen(): void
  onceIo(run: (queue: CommandQueue) => Promise<number>): Promise<number>
  /** Searches a namespace, attached or not, before it is erased. @throws ForeignDataError */
  guardErase(nsid: number): Promise<void>
  /** Identifies the namespaces again, and reports these as changed. */
  changed(nsids: readonly number[]): Promise<void>
}

/**
 * Commands that change a drive beyond the blocks of a namespace. Only a handle opened with
 * `{ write: { serial }, manage: true }` has it. Commands that may destroy data first search for foreign data, as a
 * write does.
 */
export class Management {
  private readonly host: ManagementHost

  constructor(host: ManagementHost) {
    this.host = host
  }

  /** Allocator of memory for the data of `submitAdmin` and `submitIo`. */
  get dma(): DmaAllocator {
    return this.host.dma
  }

  /**
   * Sets a feature by its declaration in nvme-spec: `setFeature(VolatileWriteCache, { CDW11: { WCE: 1 } })`.
   * @throws TypeError for a feature that the driver relies on, such as Number of Queues; CommandError.
   */
  setFeature<F extends AnyFeature>(feature: F, options: SetFeatureOptions<F>): Promise<void> {
    return setFeature(this.host.admin, feature, options)
  }

  /**
   * Formats a namespace. Destroys its data and, with some controllers (FNA), that of all other namespaces, which are
   * then searched as well. Its `Namespace` object then has the new format. May take minutes. Default time limit: 10
   * minutes.
   * @throws ForeignDataError; NamespaceBusyError while transfers of the namespace are in progress;
   *   UnsupportedCommandError; RangeError for a format that the namespace does not list; CommandError,
   *   UnknownFateError.
   */
  async format(nsid: number, options: FormatOptions): Promise<void> {
    const { admin, inUse } = this.host
    this.host.checkOpen()
    const namespace = this.attached(nsid)
    checkFormat(admin, namespace.identity.raw, options)
    const reached = await reachOfFormat(admin, nsid, options, this.nsids())
    // Before the search, which would be rejected as well; and again after it.
    inUse.checkFree(reached)
    for (const each of reached) await this.host.guardErase(each)
    await this.changing(reached, () => inUse.taking(reached, 'its format', () => sendFormat(admin, nsid, options)))
  }

  /**
   * Creates a namespace, which is not attached to any controller, and returns its NSID.
   * @throws UnsupportedCommandError, CommandError, UnknownFateError.
   */
  createNamespace(wanted: NewNamespace, options?: AdminOptions): Promise<number> {
    return createNamespace(this.host.admin, wanted, options)
  }

  /**
   * Deletes a namespace and its data. A namespace that is not attached cannot be searched: `overwrite` must then
   * include `UNREADABLE_DATA`.
   * @throws same as `format`; NamespaceNotFoundError if it is not allocated.
   */
  async deleteNamespace(nsid: number, options: AdminOptions = {}): Promise<void> {
    const { admin, inUse } = this.host
    this.host.checkOpen()
    checkOptions('deleteNamespace', options, adminOptions)
    checkManaged(admin)
    const allocated = await allNamespaces(admin, this.nsids())
    if (!allocated.includes(oneNamespace(nsid))) {
      const found = allocated.map((each) => ({ nsid: each }))
      throw new NamespaceNotFoundError(nsid, found, 'allocated')
    }
    await this.host.guardErase(nsid)
    await this.changing([nsid], () => inUse.taking([nsid], 'its deletion', () => deleteNamespace(admin, nsid, options)))
  }

  /**
   * Attaches controllers to a namespace, by their identifiers (CNTLID). Default: this controller.
   * @throws UnsupportedCommandError, CommandError, UnknownFateError.
   */
  async attach(nsid: number, controllers?: number[], options: AdminOptions = {}): Promise<void> {
    const { admin } = this.host
    checkOptions('attach', options, adminOptions)
    await this.changing([nsid], () => attachment(admin, oneNamespace(nsid), 'attach', controllers, options))
  }

  /** Detaches controllers from a namespace. @throws same as `attach`; NamespaceBusyError. */
  async detach(nsid: number, controllers?: number[], options: AdminOptions = {}): Promise<void> {
    const { admin, inUse } = this.host
    checkOptions('detach', options, adminOptions)
    await this.changing([nsid], () =>
      inUse.taking([nsid], 'its detachment', () =>
        attachment(admin, oneNamespace(nsid), 'detach', controllers, options),
      ),
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
    const { admin, mostBytes } = this.host
    checkRaw(command, 'admin', options)
    checkRawData(command, values as object, options)
    const send = () => sendRaw((run) => admin.once(run), command, values, options, mostBytes.admin)
    if (!mayErase(command)) return send()
    this.host.checkOpen()
    const reached = await allNamespaces(admin, this.nsids())
    for (const nsid of reached) await this.host.guardErase(nsid)
    return this.changing(reached, () => this.host.inUse.taking(reached, command.name, send))
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
    const { inUse, mostBytes } = this.host
    checkRaw(command, 'io', options)
    const { NSID: nsid = 0 } = values
    const identity = this.host.namespaces.find((each) => each.nsid === nsid)?.identity
    // With metadata, beside the blocks or between them, the length of a command's data is not known here.
    checkRawData(
      command,
      values as object,
      options,
      identity?.unsupported === undefined ? identity?.blockBytes : undefined,
    )
    if (mayChangeBlocks(command)) {
      for (const namespace of this.host.namespaces) {
        if (namespace.nsid === nsid || nsid === ALL_NAMESPACES) await namespace.passGuard()
      }
    }
    return inUse.during(nsid, () => sendRaw((run) => this.host.onceIo(run), command, values, options, mostBytes.io))
  }

  /** Runs an action, then identifies the namespaces again, whatever the outcome. */
  private async changing<T>(nsids: readonly number[], action: () => Promise<T>): Promise<T> {
    let result: T
    try {
      result = await action()
    } catch (error) {
      // The first error is reported.
      await this.host.changed(nsids).catch(() => undefined)
      throw error
    }
    await this.host.changed(nsids)
    return result
  }

  private attached(nsid: number): WritableNamespace {
    const { namespaces } = this.host
    const found = namespaces.find((namespace) => namespace.nsid === nsid)
    if (found === undefined) throw new NamespaceNotFoundError(nsid, namespaces)
    return found
  }

  private nsids(): number[] {
    return this.host.namespaces.map(({ nsid }) => nsid)
  }
}

/** Checks the NSID of one namespace. @throws RangeError */
function oneNamespace(nsid: number): number {
  if (Number.isInteger(nsid) && nsid >= 1 && nsid < ALL_NAMESPACES) return nsid
  throw new RangeError(`nsid: expected 1 to ${ALL_NAMESPACES - 1}, got ${nsid}`)
}
