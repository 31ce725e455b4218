import { HostEngine } from '@gpunvme/host-driver'
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'

/** The driver's own engine, which says where its queues are. */
export class SeenEngine extends HostEngine {
  queues: readonly QueuePairMemory[] = []

  override attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    this.queues = queues
    super.attach(queues, watch)
  }
}
