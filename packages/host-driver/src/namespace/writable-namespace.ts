import { AcceptedPlan } from '@gpunvme/nvme-spec/engine'
import type { DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { NamespaceIdentity } from '../bring-up/identity.js'
import type { Transfer } from '../engine/plan.js'
import { hold, release } from '../memory/lent-memory.js'
import type { RunningController } from '../running/running-controller.js'
import { checkOptions, flag, limits } from '../check-options.js'
import { copy, deallocate, writeZeroes, type ChangeTarget, type CommandLimits } from './changes.js'
import { checkCall, Namespace, type TransferOptions } from './namespace.js'
import { checkIsList, totalBlocks, type BlockRange } from './ranges.js'

/** Options of `writeZeroes`. */
export interface WriteZeroesOptions extends CommandLimits {
  /** Allows the controller to deallocate the blocks, if the namespace supports it (DLFEAT). */
  readonly deallocate?: boolean
  /** Force Unit Access: each command completes only when its zeroes are on the media. */
  readonly fua?: boolean
}

const zeroesOptions = { deallocate: flag, fua: flag, ...limits }

/** A namespace of a controller that was opened for writing. */
export class WritableNamespace extends Namespace {
  private readonly guard: () => Promise<void>
  private guarded: { readonly presence: object | undefined; readonly passing: Promise<void> } | undefined

  /**
   * @param guard called once, before the first write; throws if the namespace holds foreign data.
   * @internal
   */
  constructor(
    controller: RunningController,
    nsid: number,
    identityNow: () => NamespaceIdentity,
    guard: (namespace: Namespace) => Promise<void>,
  ) {
    super(controller, nsid, identityNow)
    this.guard = () => guard(this)
  }

  /** Returns a plan of writes, split at the controller's limits and spread over the queues. */
  planWrites(transfers: readonly Transfer[]): Plan {
    return this.plan('write', transfers)
  }

  override async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    checkCall(plan, memory, this.controller.session.lent, options)
    const accepted = AcceptedPlan.of(plan)
    hold(memory)
    try {
      return await this.run(accepted, memory, options)
    } finally {
      release(memory)
    }
  }

  /**
   * Writes `blocks` logical blocks from `slba`. They are durable only after `flush`.
   * @throws same as `read`; ForeignDataError.
   */
  write(slba: number, blocks: number, memory: DmaMemory, options: TransferOptions = {}): Promise<void> {
    return this.transfer('write', slba, blocks, memory, options)
  }

  /**
   * Makes blocks read as zeroes, without transferring data. Durable only after `flush`, or with `fua`.
   * @throws BlockCommandError or DriverError (UNKNOWN_FATE), which state the progress; DriverError
   *   (UNSUPPORTED_COMMAND, LBA_RANGE), RangeError, ForeignDataError, the signal's reason.
   */
  async writeZeroes(slba: number, blocks: number, options: WriteZeroesOptions = {}): Promise<void> {
    checkOptions('writeZeroes', options, zeroesOptions)
    const range = { slba, blocks }
    await writeZeroes(await this.guardedTarget('writeZeroes', [range]), range, options)
  }

  /**
   * Tells the controller that the data of these blocks is no longer needed: Dataset Management with Deallocate. It may
   * deallocate all, some or none of them. Deallocated blocks read as zeroes, as ones or as before: see DLFEAT.
   * @throws same as `writeZeroes`.
   */
  async deallocate(ranges: readonly BlockRange[], options: CommandLimits = {}): Promise<void> {
    checkOptions('deallocate', options, limits)
    checkIsList('ranges', ranges)
    if (ranges.length === 0) throw new RangeError('deallocate: expected at least one range, got none')
    await deallocate(await this.guardedTarget('deallocate', ranges), ranges, options)
  }

  /**
   * Copies blocks inside the namespace without transferring data: the sources, one after another, to the blocks from
   * `destination` on.
   * @throws same as `writeZeroes`; RangeError for a source that overlaps the destination.
   */
  async copy(sources: readonly BlockRange[], destination: number, options: CommandLimits = {}): Promise<void> {
    checkOptions('copy', options, limits)
    checkIsList('sources', sources)
    if (sources.length === 0) throw new RangeError('copy: expected at least one source, got none')
    this.checkRanges('copy', sources)
    const written = { slba: destination, blocks: totalBlocks(sources) }
    await copy(await this.guardedTarget('copy', [...sources, written]), sources, written, options)
  }

  /**
   * Resolves when all earlier writes are on the media.
   * @throws CommandError, CommandTimeoutError or DeviceLostError, after which written data may be lost; the signal's
   *   reason.
   */
  async flush(options: CommandLimits = {}): Promise<void> {
    checkOptions('flush', options, limits)
    const { signal, timeoutNs } = options
    if (signal?.aborted === true) throw signal.reason
    await this.controller.flush(this.nsid, timeoutNs)
  }

  /** Executes a checked plan; a write passes the guard first. */
  protected override async run(
    plan: AcceptedPlan,
    memory: DmaMemory,
    options?: ExecuteOptions,
  ): Promise<OutcomeSummary> {
    if (plan.operation !== 'read') await this.passGuard()
    return super.run(plan, memory, options)
  }

  /** Passes the guard; returns what a change of these blocks needs. @throws same as `passGuard`, `checkRanges`. */
  private async guardedTarget(name: string, ranges: readonly BlockRange[]): Promise<ChangeTarget> {
    // Before the guard reads anything, and for the namespace that it has read.
    this.checkRanges(name, ranges)
    await this.passGuard()
    this.checkRanges(name, ranges)
    return this.target()
  }

  /**
   * Passes the guard once, and again if the namespace was replaced, resized or detached meanwhile. A refusal or a
   * failed check is repeated at the next call. @internal
   */
  async passGuard(): Promise<void> {
    const presence = this.controller.session.presenceOf(this.nsid)
    const { guarded } = this
    const passed =
      guarded !== undefined && guarded.presence === presence ? guarded : { presence, passing: this.guard() }
    this.guarded = passed
    try {
      await passed.passing
    } catch (error) {
      if (this.guarded === passed) this.guarded = undefined
      throw error
    }
    // Replaced while the guard read it.
    if (this.controller.session.presenceOf(this.nsid) !== presence) await this.passGuard()
  }
}
