import { throwOnFailure, WritableNamespace, type Namespace } from '@gpunvme/host-driver'
import type { DmaMemory, ExecuteOptions, Plan } from '@gpunvme/nvme-spec/transport'
import {
  checkTransfers,
  type BlockStore,
  type StoreSummary,
  type StoreTransfer,
  type WritableBlockStore,
} from './store.js'

/** Commands in flight that keep any drive busy at its maximum transfer length. */
const BUSY_COMMANDS = 32

const stores = new WeakMap<Namespace, BlockStore>()

/**
 * Returns a namespace as a store; the same one for the same namespace. A writable namespace gives a writable store.
 * @param name name of the store in messages, for example of its drive in a set. The first call sets it. Default:
 * 'namespace 1'.
 */
export function namespaceStore(namespace: WritableNamespace, name?: string): WritableBlockStore
export function namespaceStore(namespace: Namespace, name?: string): BlockStore
export function namespaceStore(namespace: Namespace, name = `namespace ${namespace.nsid}`): BlockStore {
  let store = stores.get(namespace)
  if (store === undefined) {
    store =
      namespace instanceof WritableNamespace
        ? new WritableNamespaceStore(namespace, name)
        : new NamespaceStore(namespace, name)
    stores.set(namespace, store)
  }
  return store
}

class NamespaceStore<N extends Namespace = Namespace> implements BlockStore {
  readonly name: string
  protected readonly namespace: N

  constructor(namespace: N, name: string) {
    this.namespace = namespace
    this.name = name
  }

  get blockBytes() {
    return this.namespace.blockBytes
  }

  get capacityBytes() {
    return this.namespace.capacityBytes
  }

  get saturationBytes() {
    return BUSY_COMMANDS * this.namespace.maxTransferBytes
  }

  get dma() {
    return this.namespace.dma
  }

  get clock() {
    return this.namespace.clock
  }

  get movesData() {
    return this.namespace.movesData
  }

  async read(
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    options: ExecuteOptions = {},
  ): Promise<StoreSummary> {
    const { namespace } = this
    checkTransfers(this, transfers, memory)
    return this.execute(namespace.planReads(transfers.map(this.inBlocks)), memory, options)
  }

  locate(offsetBytes: number, lengthBytes: number): string {
    const { nsid, blockBytes } = this.namespace
    const first = Math.floor(offsetBytes / blockBytes)
    const last = Math.max(first, Math.ceil((offsetBytes + lengthBytes) / blockBytes) - 1)
    return `NSID ${nsid}  LBA 0x${first.toString(16)} to 0x${last.toString(16)}`
  }

  protected readonly inBlocks = ({ offsetBytes, lengthBytes, memoryBytes }: StoreTransfer) => {
    const { blockBytes } = this.namespace
    return { slba: offsetBytes / blockBytes, blocks: lengthBytes / blockBytes, offsetBytes: memoryBytes }
  }

  protected async execute(plan: Plan, memory: DmaMemory, options: ExecuteOptions): Promise<StoreSummary> {
    const summary = await this.namespace.execute(plan, memory, options)
    throwOnFailure(plan, summary, options)
    const { bytes, commands, startNs, endNs } = summary
    return { bytes, commands, startNs, endNs }
  }
}

class WritableNamespaceStore extends NamespaceStore<WritableNamespace> implements WritableBlockStore {
  async write(
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    options: ExecuteOptions = {},
  ): Promise<StoreSummary> {
    checkTransfers(this, transfers, memory)
    return this.execute(this.namespace.planWrites(transfers.map(this.inBlocks)), memory, options)
  }

  async flush(): Promise<void> {
    await this.namespace.flush()
  }
}
