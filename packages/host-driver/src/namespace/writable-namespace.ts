import type { DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { NamespaceIdentity } from '../bring-up/identity.js'
import type { Transfer } from '../engine/plan.js'
import type { NamespaceHost } from './host.js'
import { Namespace, type TransferOptions } from './namespace.js'

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
