import { AcceptedPlan } from '@gpunvme/nvme-spec/engine'
import type { Clock, DmaAllocator, DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { NamespaceIdentity } from '../bring-up/identity.js'
import { checkOptions, integer, isObject, limits, show } from '../check-options.js'
import { planTransfers, type Transfer } from '../engine/plan.js'
import { checkMemory } from '../memory/check-memory.js'
import { hostView } from '../memory/reachable.js'
import { UnsupportedCommandError } from '../commands/unsupported-command.js'
import type { ChangeTarget, CommandLimits } from './changes.js'
import { compare, verify } from './checks.js'
import { UnsupportedNamespaceError } from './errors.js'
import type { NamespaceHost } from './host.js'
import { checkRange, type BlockRange } from './ranges.js'
import { throwOnFailure } from './transfer-error.js'

export interface TransferOptions extends ExecuteOptions {
  /** Where in the memory the first block belongs; 0 when not given. */
  readonly offsetBytes?: number
}

export interface CompareOptions extends CommandLimits {
  /** Where in the memory the first block begins; 0 when not given. */
  readonly offsetBytes?: number
}

const offsetBytes = integer(0, Number.MAX_SAFE_INTEGER, 'a whole number of bytes, 0 or more')
const transferOptions = { offsetBytes, ...limits }

/** A namespace that can be read. It has no way to write: that takes a controller opened with `write`. */
export class Namespace {
  readonly nsid: number
  protected readonly host: NamespaceHost
  private current: NamespaceIdentity

  constructor(host: NamespaceHost, identity: NamespaceIdentity) {
    this.host = host
    this.nsid = identity.nsid
    this.current = identity
  }

  /** As the controller last described it: it may change while it is open, which is an event of the controller. */
  get identity(): NamespaceIdentity {
    return this.current
  }

  /** LBAs run from 0 to blocks - 1. */
  get blocks(): number {
    return this.current.blocks
  }

  get blockBytes(): number {
    return this.current.blockBytes
  }

  get capacityBytes(): number {
    return this.blocks * this.blockBytes
  }

  /** The longest transfer of one command. */
  get maxTransferBytes(): number {
    return this.host.maxTransferBytes
  }

  /** I/O queue pairs that a plan may name. */
  get queues(): number {
    return this.host.queues
  }

  /** False where transfers complete without their bytes being moved, as a simulation may: whoever hands out data refuses. */
  get movesData(): false | undefined {
    return this.host.movesData
  }

  /** Where memory for transfers comes from. */
  get dma(): DmaAllocator {
    return this.host.dma
  }

  get clock(): Clock {
    return this.host.clock
  }

  /** Another host changed it, or a reset brought something else to light. @internal */
  changeTo(identity: NamespaceIdentity): void {
    this.current = identity
  }

  /** A plan of reads, split by MDTS and dealt to the queues. */
  planReads(transfers: readonly Transfer[]): Plan {
    return this.plan('read', transfers)
  }

  /**
   * Executes a copy of a plan of reads. Resolves with one outcome per command, including failures: see `failures`.
   * @throws TypeError for a plan of writes, or one made for another namespace.
   */
  async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    checkCall(plan, memory, options)
    const accepted = AcceptedPlan.of(plan)
    if (accepted.operation !== 'read')
      throw new TypeError('this handle only reads: open the controller with { write: { serial } }')
    return this.run(accepted, memory, options)
  }

  /**
   * Reads `blocks` logical blocks from `slba` into `memory`.
   * @throws LbaRangeError, TransferError (any command that did not succeed), the signal's reason.
   */
  async read(slba: number, blocks: number, memory: DmaMemory, options: TransferOptions = {}): Promise<void> {
    await this.transfer('read', slba, blocks, memory, options)
  }

  /** Any byte range, through a buffer of its own: for headers and the like, not for bulk data. */
  async readBytes(offsetBytes: number, lengthBytes: number, options: ExecuteOptions = {}): Promise<Uint8Array> {
    checkOptions('readBytes', options, limits)
    const { blockBytes } = this
    const slba = Math.floor(offsetBytes / blockBytes)
    const blocks = Math.ceil((offsetBytes + lengthBytes) / blockBytes) - slba
    if (lengthBytes === 0) return new Uint8Array(0)
    const memory = this.dma.alloc(blocks * blockBytes)
    try {
      await this.read(slba, blocks, memory, options)
      const view = hostView(memory)
      return new Uint8Array(view.buffer, view.byteOffset + (offsetBytes - slba * blockBytes), lengthBytes).slice()
    } finally {
      memory.free()
    }
  }

  /**
   * Has the controller check that these blocks can be read, without transferring them.
   * @throws CommandError naming the blocks of the command that failed; UnsupportedCommandError, LbaRangeError,
   *   RangeError, the signal's reason.
   */
  async verify(slba: number, blocks: number, options: CommandLimits = {}): Promise<void> {
    checkOptions('verify', options, limits)
    const range = { slba, blocks }
    this.checkRanges('verify', [range])
    await verify(this.target(), range, options)
  }

  /**
   * Whether these blocks hold what is in `memory`, as the controller finds. False: at least one byte differs.
   * @throws CommandError, UnsupportedCommandError, LbaRangeError, RangeError also for memory that is too small or not
   *   aligned, the signal's reason.
   */
  async compare(slba: number, blocks: number, memory: DmaMemory, options: CompareOptions = {}): Promise<boolean> {
    checkOptions('compare', options, transferOptions)
    checkMemory(memory)
    const range = { slba, blocks }
    this.checkRanges('compare', [range])
    const { offsetBytes = 0, signal, timeoutNs } = options
    const { maxTransferBytes } = this
    return compare(this.target(), range, memory, { offsetBytes, maxTransferBytes, signal, timeoutNs })
  }

  /** What commands beside plans need. @throws UnsupportedNamespaceError, UnsupportedCommandError. */
  protected target(): ChangeTarget {
    const { identity, nsid, blockBytes } = this
    const { commands } = this.host
    if (identity.unsupported !== undefined) throw new UnsupportedNamespaceError(identity)
    if (commands === undefined) throw new UnsupportedCommandError('commands beside plans', 'it only executes plans')
    return { commands, nsid, blockBytes, raw: identity.raw }
  }

  /** @throws RangeError, LbaRangeError. */
  protected checkRanges(name: string, ranges: readonly BlockRange[]): void {
    for (const range of ranges) checkRange(name, this.nsid, this.blocks, range)
  }

  protected plan(operation: 'read' | 'write', transfers: readonly Transfer[]): Plan {
    const { nsid, blockBytes, maxTransferBytes, queues } = this
    this.checkRanges(operation, transfers)
    const { boundaryBlocks } = this.identity
    return planTransfers({ operation, nsid, blockBytes, maxTransferBytes, queues, boundaryBlocks }, transfers)
  }

  protected async transfer(
    operation: 'read' | 'write',
    slba: number,
    blocks: number,
    memory: DmaMemory,
    given: TransferOptions,
  ): Promise<void> {
    checkOptions(operation, given, transferOptions)
    checkMemory(memory)
    const { offsetBytes = 0, ...options } = given
    const plan = new AcceptedPlan(this.plan(operation, [{ slba, blocks, offsetBytes }]))
    throwOnFailure(plan, await this.run(plan, memory, options), options)
  }

  protected async run(plan: AcceptedPlan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const { identity, nsid, blockBytes } = this
    if (identity.unsupported !== undefined) throw new UnsupportedNamespaceError(identity)
    if (plan.nsid !== nsid || plan.blockBytes !== blockBytes) {
      throw new TypeError(
        `plan: expected one for namespace ${nsid} with ${blockBytes}-byte blocks, got namespace ${plan.nsid}, ${plan.blockBytes}`,
      )
    }
    return this.host.execute(plan, memory, options)
  }
}

/** What can be wrong with `execute` before the plan is looked into. @throws TypeError, RangeError. */
export function checkCall(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): void {
  if (!isObject(plan)) throw new TypeError(`plan: expected one that ns.planReads() made, got ${show(plan)}`)
  checkMemory(memory)
  checkOptions('execute', options, limits)
}
