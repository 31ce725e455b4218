import { formatStatus, GpuNvmeError, STATUS } from '@gpunvme/nvme-spec'
import type { Clock, DmaAllocator, DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { NamespaceIdentity } from './bring-up/identity.js'
import { planTransfers, type Transfer } from './engine/plan.js'
import { hostView } from './memory/reachable.js'

/** What a namespace needs of the controller that it belongs to. */
export interface NamespaceHost {
  readonly dma: DmaAllocator
  readonly clock: Clock
  readonly queues: number
  readonly maxTransferBytes: number
  /** As `Transport.movesData`. */
  readonly movesData?: false | undefined
  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary>
  flush(nsid: number): Promise<void>
}

export interface TransferOptions extends ExecuteOptions {
  /** Where in the memory the first block belongs; 0 when not given. */
  readonly offsetBytes?: number
}

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
   * Executes a plan of reads. Resolves with one outcome a command, the bad ones included: look at `failures`.
   * @throws TypeError for a plan of writes, or one made for another namespace.
   */
  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    if (plan.operation !== 'read')
      throw new TypeError('this handle only reads: open the controller with { write: { serial } }')
    return this.run(plan, memory, options)
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

  protected plan(operation: 'read' | 'write', transfers: readonly Transfer[]): Plan {
    const { nsid, blockBytes, maxTransferBytes, queues } = this
    for (const { slba, blocks } of transfers) {
      if (slba + blocks > this.blocks) throw new LbaRangeError(nsid, slba, blocks, this.blocks)
    }
    return planTransfers({ operation, nsid, blockBytes, maxTransferBytes, queues }, transfers)
  }

  protected async transfer(
    operation: 'read' | 'write',
    slba: number,
    blocks: number,
    memory: DmaMemory,
    { offsetBytes = 0, ...options }: TransferOptions,
  ): Promise<void> {
    const plan = this.plan(operation, [{ slba, blocks, offsetBytes }])
    throwOnFailure(plan, await this.run(plan, memory, options), options)
  }

  protected async run(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const { identity, nsid, blockBytes } = this
    if (identity.unsupported !== undefined) throw new UnsupportedNamespaceError(nsid, identity.unsupported)
    if (plan.nsid !== nsid || plan.blockBytes !== blockBytes) {
      throw new TypeError(
        `plan: expected one for namespace ${nsid} with ${blockBytes}-byte blocks, got namespace ${plan.nsid}, ${plan.blockBytes}`,
      )
    }
    return this.host.execute(plan, memory, options)
  }
}

/** A namespace of a controller that was opened for writing, with its serial number given and the guard passed. */
export class WritableNamespace extends Namespace {
  private readonly guard: () => Promise<void>
  private guarded: Promise<void> | undefined

  /** @param guard refuses when the namespace holds something that is not ours; called once, before the first write. */
  constructor(host: NamespaceHost, identity: NamespaceIdentity, guard: (namespace: Namespace) => Promise<void>) {
    super(host, identity)
    this.guard = () => guard(this)
  }

  planWrites(transfers: readonly Transfer[]): Plan {
    return this.plan('write', transfers)
  }

  override execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    return this.run(plan, memory, options)
  }

  /** Writes `blocks` logical blocks from `slba`. They are durable only after `flush`. */
  async write(slba: number, blocks: number, memory: DmaMemory, options: TransferOptions = {}): Promise<void> {
    await this.transfer('write', slba, blocks, memory, options)
  }

  /** Resolves when everything written before is on the media. */
  async flush(): Promise<void> {
    await this.host.flush(this.nsid)
  }

  protected override async run(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    if (plan.operation !== 'read') await this.passGuard()
    return super.run(plan, memory, options)
  }

  /** Once it is passed it is passed; a refusal, or a guard that could not look, is asked again. */
  private async passGuard(): Promise<void> {
    this.guarded ??= this.guard()
    try {
      await this.guarded
    } catch (error) {
      this.guarded = undefined
      throw error
    }
  }
}

/**
 * Turns a summary with failures into its error: nothing, when every command succeeded.
 * @throws the signal's reason where the plan was aborted and nothing else went wrong, otherwise TransferError.
 */
export function throwOnFailure(plan: Plan, summary: OutcomeSummary, { signal }: ExecuteOptions = {}): void {
  if (summary.failures.length === 0) return
  const aborted = signal?.aborted === true && summary.failures.every(({ outcome }) => outcome.kind === 'not-submitted')
  if (aborted) throw signal.reason
  throw new TransferError(plan, summary)
}

/** Commands of a transfer did not succeed. None of its data may be used. */
export class TransferError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_TRANSFER'
  readonly category = 'device'
  readonly failures: OutcomeSummary['failures']
  constructor(plan: Plan, summary: OutcomeSummary) {
    const first = summary.failures.find(({ outcome }) => outcome.kind !== 'not-submitted') ?? summary.failures[0]!
    const { command, qid, cid, outcome } = first
    const verb = plan.operation === 'read' ? 'Read' : 'Write'
    const facts = [
      `CID 0x${hex(cid & 0xffff).padStart(4, '0')}  qid ${qid}  NSID ${plan.nsid}  SLBA 0x${hex(plan.slba[command]!)}  NLB ${plan.blocks[command]}`,
    ]
    if (summary.failures.length > 1 || plan.commands > 1) {
      facts.push(`${summary.failures.length} of ${plan.commands} commands did not succeed; this is the first of them`)
    }
    super(`${verb} failed: ${describe(outcome)}`, { facts, next: nextStep(outcome) })
    this.failures = summary.failures
  }
}

function describe(outcome: OutcomeSummary['failures'][number]['outcome']): string {
  switch (outcome.kind) {
    case 'status':
      return formatStatus(outcome)
    case 'timeout':
      return `no completion in ${outcome.afterNs / 1e9} s`
    case 'device-lost':
      return outcome.csts === 0xffff_ffff
        ? 'the device is gone: its registers read all ones'
        : 'CSTS.CFS is set: the controller failed'
    case 'unknown':
      return 'its completion was lost, and whether it was carried out is not known'
    case 'not-submitted':
      return 'the engine had stopped before it was submitted'
  }
}

function nextStep(outcome: OutcomeSummary['failures'][number]['outcome']): string {
  if (outcome.kind === 'unknown') return 'write these blocks again, or read them back before they are relied on'
  if (outcome.kind === 'timeout')
    return 'the controller was brought back, and the same blocks got no answer again: use others'
  if (outcome.kind !== 'status') return 'open the controller again: that resets it'
  const unrecovered =
    outcome.sct === STATUS.UNRECOVERED_READ_ERROR.sct && outcome.sc === STATUS.UNRECOVERED_READ_ERROR.sc
  if (unrecovered) return 'these blocks cannot be read from the media; write them again from the source'
  return outcome.dnr
    ? 'do not repeat it: the controller says that it will fail again'
    : 'the status allows another attempt'
}

function hex(value: number): string {
  return value.toString(16)
}

/** A transfer that would pass the end of its namespace. Nothing was submitted. */
export class LbaRangeError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_LBA_RANGE'
  readonly category = 'usage'
  constructor(nsid: number, slba: number, blocks: number, available: number) {
    super(`LBAs 0x${hex(slba)} to 0x${hex(slba + blocks - 1)} are not all in namespace ${nsid}`, {
      facts: [`namespace ${nsid} ends at LBA 0x${hex(available)} (NSZE)`],
    })
  }
}

/** The namespace exists, but not in a format that can be read and written here. */
export class UnsupportedNamespaceError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNSUPPORTED_NAMESPACE'
  readonly category = 'infeasible'
  constructor(nsid: number, reason: string) {
    super(`Namespace ${nsid} cannot be used: ${reason}`, {
      next: 'format it without metadata (this erases it), or use another namespace',
    })
  }
}
