import { LentMemory, WritableNamespace } from '@gpunvme/host-driver'
import type {
  DmaAllocator,
  DmaMemory,
  ExecuteOptions,
  Outcome,
  OutcomeSummary,
  Plan,
} from '@gpunvme/nvme-spec/transport'

export interface MemoryNamespaceOptions {
  readonly capacityBytes?: number
  readonly blockBytes?: number
  readonly maxTransferBytes?: number
  readonly queues?: number
  /** Initial content of the media; not copied. */
  readonly media?: Uint8Array
}

/** A write or flush that reached the media. */
export type JournalEntry =
  | { readonly kind: 'write'; readonly offsetBytes: number; readonly content: Uint8Array }
  | { readonly kind: 'flush' }

type OpenController = ConstructorParameters<typeof WritableNamespace>[0]

const NS_PER_BLOCK = 100

/**
 * A namespace in memory without a controller. It records writes and flushes in a journal, lets a test block plans and
 * choose the outcome of commands, and counts allocated bytes.
 */
export class MemoryNamespace {
  readonly namespace: WritableNamespace
  readonly media: Uint8Array
  readonly journal: JournalEntry[] = []
  readonly plans: Plan[] = []
  /** Returns the outcome of a command, before its data moves. Default: success. */
  outcome: (plan: Plan, command: number) => Outcome = () => ({ kind: 'success' })
  /** Returns a promise that a plan waits for before its first command. */
  gate: (plan: Plan) => Promise<void> = () => Promise.resolve()
  /** Bytes allocated now. `peakBytes` is the maximum so far. */
  allocatedBytes = 0
  peakBytes = 0
  inFlight = 0
  peakInFlight = 0
  private nowNs = 0

  constructor(options: MemoryNamespaceOptions = {}) {
    const { media = new Uint8Array(options.capacityBytes ?? 8 << 20), blockBytes = 512 } = options
    this.media = media
    const controller = {
      session: {
        lent: new LentMemory(this.dma),
        transport: { clock: { now: () => this.nowNs, idle: () => Promise.resolve() } },
        queues: { forPlans: Array.from({ length: options.queues ?? 1 }) },
        maxTransferBytes: options.maxTransferBytes ?? 1 << 20,
        presenceOf: () => this,
      },
      checkOpen: () => undefined,
      execute: (plan: Plan, memory: DmaMemory, { signal }: ExecuteOptions = {}) =>
        this.execute(plan, memory, () => signal?.aborted === true),
      flush: () => {
        this.journal.push({ kind: 'flush' })
        return Promise.resolve()
      },
    } as unknown as OpenController
    const raw = new DataView(new ArrayBuffer(4096))
    const identity = {
      nsid: 1,
      blocks: media.byteLength / blockBytes,
      blockBytes,
      attached: true,
      unsupported: undefined,
      raw,
    }
    this.namespace = new WritableNamespace(
      controller,
      1,
      () => identity,
      () => Promise.resolve(),
    )
  }

  private get dma(): DmaAllocator {
    return {
      alloc: (lengthBytes) => {
        this.allocatedBytes += lengthBytes
        this.peakBytes = Math.max(this.peakBytes, this.allocatedBytes)
        const bytes = new Uint8Array(lengthBytes)
        let freed = false
        const memory: DmaMemory = {
          lengthBytes,
          view: new DataView(bytes.buffer),
          segments: [{ offsetBytes: 0, iova: 0x10_0000, lengthBytes }],
          iovaAt: (offsetBytes) => 0x10_0000 + offsetBytes,
          forDevice: () => undefined,
          forHost: () => undefined,
          free: () => {
            if (freed) throw new Error('freed twice')
            freed = true
            this.allocatedBytes -= lengthBytes
            // Use after free becomes visible.
            bytes.fill(0xdd)
          },
        }
        return memory
      },
    }
  }

  private async execute(plan: Plan, memory: DmaMemory, aborted: () => boolean): Promise<OutcomeSummary> {
    const startNs = this.nowNs
    this.plans.push(plan)
    this.peakInFlight = Math.max(this.peakInFlight, ++this.inFlight)
    await this.gate(plan)
    const failures: OutcomeSummary['failures'][number][] = []
    let bytes = 0
    for (let command = 0; command < plan.commands; command++) {
      const outcome: Outcome = aborted() ? { kind: 'not-submitted' } : this.outcome(plan, command)
      if (outcome.kind === 'success') bytes += this.move(plan, command, memory)
      else failures.push({ command, qid: 1, cid: command, outcome })
    }
    this.inFlight--
    return {
      commands: plan.commands,
      succeeded: plan.commands - failures.length,
      bytes,
      failures,
      startNs,
      endNs: this.nowNs,
    }
  }

  private move(plan: Plan, command: number, memory: DmaMemory): number {
    const lengthBytes = plan.blocks[command]! * plan.blockBytes
    const offsetBytes = plan.slba[command]! * plan.blockBytes
    const view = memory.view!
    const buffer = new Uint8Array(view.buffer, view.byteOffset + plan.offsetBytes[command]!, lengthBytes)
    this.nowNs += plan.blocks[command]! * NS_PER_BLOCK
    if (plan.operation === 'read') buffer.set(this.media.subarray(offsetBytes, offsetBytes + lengthBytes))
    else {
      this.media.set(buffer, offsetBytes)
      this.journal.push({ kind: 'write', offsetBytes, content: buffer.slice() })
    }
    return lengthBytes
  }
}
