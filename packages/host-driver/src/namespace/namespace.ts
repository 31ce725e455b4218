import { AcceptedPlan } from '@gpunvme/nvme-spec/engine'
import type { Clock, DmaAllocator, DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { NamespaceIdentity } from '../bring-up/identity.js'
import { checkOptions, integer, isObject, limits, show } from '../check-options.js'
import { planTransfers, type Transfer } from '../engine/plan.js'
import { checkMemory } from '../memory/check-memory.js'
import { hold, release, type LentMemory } from '../memory/lent-memory.js'
import { hostView } from '../memory/reachable.js'
import type { ChangeTarget, CommandLimits } from './changes.js'
import { compare, verify } from './checks.js'
import { DriverError } from '../error.js'
import { namespaceOutdated } from '../running/errors.js'
import type { RunningController } from '../running/running-controller.js'
import { checkRange, type BlockRange } from './ranges.js'
import { throwOnFailure } from './transfer-error.js'

/** Options of `read` and `write`. */
export interface TransferOptions extends ExecuteOptions {
  /** Offset in the memory of the first block. Default: 0. */
  readonly offsetBytes?: number
}

/** Options of `compare`. */
export interface CompareOptions extends CommandLimits {
  /** Offset in the memory of the first block. Default: 0. */
  readonly offsetBytes?: number
}

const offsetBytes = integer(0, Number.MAX_SAFE_INTEGER, 'a whole number of bytes, 0 or more')
const transferOptions = { offsetBytes, ...limits }

/** A namespace that can be read. Writing requires a controller opened with `write`. */
export class Namespace {
  readonly nsid: number
  protected readonly controller: RunningController
  private readonly identityNow: () => NamespaceIdentity

  /** @internal */
  constructor(controller: RunningController, nsid: number, identityNow: () => NamespaceIdentity) {
    this.controller = controller
    this.nsid = nsid
    this.identityNow = identityNow
  }

  /** Last known Identify data. A change while the namespace is open is an event of the controller. */
  get identity(): NamespaceIdentity {
    return this.identityNow()
  }

  /** Number of logical blocks. LBAs are 0 to `blocks` - 1. */
  get blocks(): number {
    return this.identity.blocks
  }

  /** Bytes of a logical block. */
  get blockBytes(): number {
    return this.identity.blockBytes
  }

  /** Capacity in bytes. */
  get capacityBytes(): number {
    return this.blocks * this.blockBytes
  }

  /** Maximum transfer of one command, in bytes. */
  get maxTransferBytes(): number {
    return this.controller.session.maxTransferBytes
  }

  /** Number of I/O queue pairs that a plan may use. */
  get queues(): number {
    return this.controller.session.queues.forPlans.length
  }

  /** False if transfers complete without moving bytes, as in some simulations: callers that return data must refuse. */
  get movesData(): false | undefined {
    return this.controller.movesData
  }

  /**
   * Allocator of memory for transfers. Its memory may be freed during a call that uses it: the call completes, and then
   * the memory is freed. Memory from elsewhere must be kept until the call has ended.
   */
  get dma(): DmaAllocator {
    return this.controller.session.lent
  }

  /** Clock of the transport. */
  get clock(): Clock {
    return this.controller.session.transport.clock
  }

  /** Returns a plan of reads, split at the controller's limits and spread over the queues. */
  planReads(transfers: readonly Transfer[]): Plan {
    return this.plan('read', transfers)
  }

  /**
   * Executes a copy of a plan of reads. Resolves with one outcome per command, including failures: see `failures`.
   * @throws TypeError for a plan of writes, or one made for another namespace.
   */
  async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    checkCall(plan, memory, this.controller.session.lent, options)
    const accepted = AcceptedPlan.of(plan)
    if (accepted.operation !== 'read')
      throw new TypeError('this handle only reads: open the controller with { write: { serial } }')
    hold(memory)
    try {
      return await this.run(accepted, memory, options)
    } finally {
      release(memory)
    }
  }

  /**
   * Reads `blocks` logical blocks from `slba` into `memory`.
   * @throws DriverError (LBA_RANGE); TransferError if any command did not succeed; the signal's reason.
   */
  read(slba: number, blocks: number, memory: DmaMemory, options: TransferOptions = {}): Promise<void> {
    return this.transfer('read', slba, blocks, memory, options)
  }

  /** Reads any range of bytes, through a temporary buffer: for headers and the like, not for bulk data. */
  async readBytes(offsetBytes: number, lengthBytes: number, options: ExecuteOptions = {}): Promise<Uint8Array> {
    checkOptions('readBytes', options, limits)
    const { blockBytes } = this
    const slba = Math.floor(offsetBytes / blockBytes)
    const blocks = Math.ceil((offsetBytes + lengthBytes) / blockBytes) - slba
    if (lengthBytes === 0) return new Uint8Array(0)
    this.controller.checkOpen()
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
   * Sends Verify: the controller checks that blocks can be read, without transferring them.
   * @throws CommandError, which names the blocks of the failed command; DriverError (UNSUPPORTED_COMMAND, LBA_RANGE);
   *   RangeError, the signal's reason.
   */
  async verify(slba: number, blocks: number, options: CommandLimits = {}): Promise<void> {
    checkOptions('verify', options, limits)
    const range = { slba, blocks }
    this.checkRanges('verify', [range])
    await verify(this.target(), range, options)
  }

  /**
   * Sends Compare: the controller compares blocks with `memory`. Returns false if at least one byte differs.
   * @throws CommandError; DriverError (UNSUPPORTED_COMMAND, LBA_RANGE); RangeError also for memory that is too small or
   *   misaligned; the signal's reason.
   */
  async compare(slba: number, blocks: number, memory: DmaMemory, options: CompareOptions = {}): Promise<boolean> {
    checkOptions('compare', options, transferOptions)
    checkMemory(memory, this.controller.session.lent)
    const range = { slba, blocks }
    this.checkRanges('compare', [range])
    const { offsetBytes = 0, signal, timeoutNs } = options
    const { maxTransferBytes } = this
    hold(memory)
    try {
      return await compare(this.target(), range, memory, { offsetBytes, maxTransferBytes, signal, timeoutNs })
    } finally {
      release(memory)
    }
  }

  /** Returns the target of commands outside plans. @throws same as `usable`. */
  protected target(): ChangeTarget {
    const { controller, nsid } = this
    const { blockBytes, raw } = this.usable()
    return { controller, nsid, blockBytes, raw, presence: controller.session.presenceOf(nsid)! }
  }

  /** @throws same as `usable`, `checkRange`. */
  protected checkRanges(name: string, ranges: readonly BlockRange[]): void {
    const { blocks } = this.usable()
    for (const range of ranges) checkRange(name, this.nsid, blocks, range)
  }

  /** Returns Identify data that is valid. @throws DriverError (UNSUPPORTED_NAMESPACE, NAMESPACE_CHANGED) */
  private usable(): NamespaceIdentity {
    const { controller, identity, nsid } = this
    if (identity.unsupported !== undefined) throw unsupportedNamespace(identity)
    if (identity.outdated === true) {
      controller.retryNamespaces()
      throw namespaceOutdated(nsid)
    }
    return identity
  }

  /** Returns a plan, split at the controller's limits and spread over the queues. */
  protected plan(operation: 'read' | 'write', transfers: readonly Transfer[]): Plan {
    const { nsid, maxTransferBytes, queues } = this
    const { blocks, blockBytes, boundaryBlocks } = this.identity
    for (const transfer of transfers) checkRange(operation, nsid, blocks, transfer)
    return planTransfers({ operation, nsid, blockBytes, maxTransferBytes, queues, boundaryBlocks }, transfers)
  }

  /** Plans and executes one transfer. @throws TransferError; the signal's reason. */
  protected async transfer(
    operation: 'read' | 'write',
    slba: number,
    blocks: number,
    memory: DmaMemory,
    given: TransferOptions,
  ): Promise<void> {
    checkOptions(operation, given, transferOptions)
    checkMemory(memory, this.controller.session.lent)
    const { offsetBytes = 0, ...options } = given
    const plan = new AcceptedPlan(this.plan(operation, [{ slba, blocks, offsetBytes }]))
    hold(memory)
    try {
      throwOnFailure(plan, await this.run(plan, memory, options), options)
    } finally {
      release(memory)
    }
  }

  /** Executes a checked plan. */
  protected run(plan: AcceptedPlan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const { nsid } = this
    const { blockBytes } = this.usable()
    if (plan.nsid !== nsid || plan.blockBytes !== blockBytes) {
      throw new TypeError(
        `plan: expected a plan for namespace ${nsid} with ${blockBytes}-byte blocks, got namespace ${plan.nsid}, ${plan.blockBytes}`,
      )
    }
    return this.controller.execute(plan, memory, options)
  }
}

/** Checks the arguments of `execute`, except the content of the plan. @throws TypeError, RangeError. */
export function checkCall(plan: Plan, memory: DmaMemory, lent: LentMemory, options?: ExecuteOptions): void {
  if (!isObject(plan)) throw new TypeError(`plan: expected a plan from ns.planReads(), got ${show(plan)}`)
  checkMemory(memory, lent)
  checkOptions('execute', options, limits)
}

/** The namespace exists, but this driver cannot read or write its format. */
function unsupportedNamespace({ nsid, unsupported, attached }: NamespaceIdentity): DriverError {
  const headline = `Namespace ${nsid} cannot be used: ${unsupported}`
  return new DriverError('ERR_GPUNVME_UNSUPPORTED_NAMESPACE', 'infeasible', headline, {
    next: attached
      ? 'format it without metadata (this erases it), or use another namespace'
      : `management.attach(${nsid}) if it still exists, or use another namespace`,
  })
}
