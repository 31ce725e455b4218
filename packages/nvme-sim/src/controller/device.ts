import { CAP, CC, countOf, CSTS, maxTransferBytes } from '@gpunvme/nvme-spec'
import { randomStream } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan, TraceSink } from '@gpunvme/nvme-spec/transport'
import type { EventClock } from '../time/clock.js'
import type { Diagnostics } from './diagnostics.js'
import { AsyncEvents } from '../admin/events.js'
import { Features } from '../features/features.js'
import { ChangedNamespaces } from '../logs/changed-namespaces.js'
import { ErrorLog } from '../logs/error-log.js'
import { Health } from '../logs/health.js'
import { DriveModel } from '../model/drive-model.js'
import { Faults } from '../faults/fault.js'
import { checkNamespaceFaults } from '../faults/namespace-faults.js'
import { checkQueueFaults } from '../faults/queue-faults.js'
import type { GpuLink } from '../gpu/gpu-link.js'
import type { ReachableMemory } from '../memory/reachable.js'
import { InterruptVectors } from '../queues/interrupts.js'
import { PciFunction } from '../pci/function.js'
import { LinkModel } from '../model/link.js'
import type { Namespaces } from '../nvm/namespaces.js'
import type { DriveProfile } from '../profiles/profile.js'
import { PrpWalker } from '../memory/prp-walk.js'
import { SglWalker } from '../memory/sgl-walk.js'
import { CompletionQueue } from '../queues/queue.js'
import { QueueSet } from '../queues/queue-set.js'
import { applyQueueSettings } from '../queues/settings.js'
import type { ShadowDoorbells } from '../queues/shadow-doorbells.js'
import { RegisterFile } from './register-file.js'
import { Counters } from './statistics.js'
import { Trace } from './trace.js'

export interface DeviceOptions {
  readonly clock: EventClock
  readonly memory: ReachableMemory
  readonly namespaces: Namespaces
  readonly profile: DriveProfile
  readonly diagnostics: Diagnostics
  readonly faults: FaultPlan | undefined
  readonly seed: number
  readonly trace: TraceSink | undefined
  /** Link of the GPU whose memory the controller accesses, if any. */
  readonly gpuLink?: GpuLink | undefined
}

/** The parts, limits and host settings of a controller, on which commands operate. */
export class Device {
  readonly clock: EventClock
  readonly memory: ReachableMemory
  readonly namespaces: Namespaces
  readonly profile: DriveProfile
  readonly diagnostics: Diagnostics
  readonly registers: RegisterFile
  readonly link: LinkModel
  readonly gpuLink: GpuLink | undefined
  readonly drive: DriveModel
  readonly prps: PrpWalker
  readonly sgls: SglWalker
  readonly faults: Faults
  readonly counters = new Counters()
  readonly trace: Trace
  readonly pci: PciFunction
  readonly interrupts: InterruptVectors
  readonly features: Features
  readonly events = new AsyncEvents(this)
  readonly errors: ErrorLog
  readonly health: Health
  readonly changedNamespaces = new ChangedNamespaces()

  /** Raw CAP, and limits derived from it and from Identify. */
  readonly capabilities: bigint
  /** CAP.MQES as a count. */
  readonly maxQueueEntries: number
  readonly doorbellStrideBytes: number
  /** The limit of MDTS; Infinity if it sets none. */
  readonly maxTransferBytes: number

  readonly queues: QueueSet
  /** The buffers of Doorbell Buffer Config; undefined if the host has not set any. */
  shadow: ShadowDoorbells | undefined
  /** Memory page size of CC.MPS. */
  pageBytes = 4096
  /** I/O queues granted by Number of Queues. */
  grantedSqs: number
  grantedCqs: number

  constructor({ clock, memory, namespaces, profile, diagnostics, faults, seed, trace, gpuLink }: DeviceOptions) {
    this.clock = clock
    this.memory = memory
    this.namespaces = namespaces
    this.profile = profile
    this.diagnostics = diagnostics
    this.trace = new Trace(clock, trace)
    this.registers = new RegisterFile(diagnostics)
    this.link = new LinkModel(profile.link)
    this.gpuLink = gpuLink
    this.pci = new PciFunction(profile, diagnostics)
    this.interrupts = new InterruptVectors(this.pci.bar.vectors, this)
    this.queues = new QueueSet(profile.ioQueuePairs + 1)
    this.drive = new DriveModel(profile, randomStream(seed, 'drive'))
    this.prps = new PrpWalker(memory, diagnostics)
    this.sgls = new SglWalker(memory, diagnostics)
    this.faults = new Faults(faults, seed, clock, this.trace)
    if (faults) {
      checkNamespaceFaults(faults, namespaces)
      checkQueueFaults(faults, profile.ioQueuePairs)
    }
    this.errors = new ErrorLog(profile)
    this.health = new Health(this)
    this.features = new Features(this)
    this.capabilities = CAP.encode(profile.CAP)
    const { MQES, DSTRD, MPSMIN } = CAP.decode(this.capabilities)
    this.maxQueueEntries = countOf(MQES)
    this.doorbellStrideBytes = 2 ** (2 + DSTRD)
    this.maxTransferBytes = maxTransferBytes(profile.identify.MDTS ?? 0, MPSMIN) ?? Infinity
    this.grantedSqs = profile.ioQueuePairs
    this.grantedCqs = profile.ioQueuePairs
  }

  /** Raw CC. */
  get configuration(): number {
    return this.registers.get32(CC)
  }

  /**
   * An attached namespace was attached, detached or deleted, or its Identify data have changed. The host is notified
   * unless it deleted the namespace itself (Base 2.3 §5.2.2.1).
   */
  namespaceChanged(nsid: number, wasDeleted = false): void {
    this.changedNamespaces.add(nsid)
    if (!wasDeleted) this.changedNamespaces.announce(this.events)
  }

  /**
   * Host memory at device addresses may have changed: cached views are dropped. Queues whose memory is gone are
   * detected on use.
   */
  memoryChanged(): void {
    for (const queue of this.queues.all()) {
      const access = queue instanceof CompletionQueue ? 'write' : 'read'
      const pieces = this.memory.pieces(queue.iova, queue.lengthBytes, access)
      if (pieces !== undefined) queue.useMemory(pieces)
    }
    this.shadow?.memoryChanged()
  }

  isReady(): boolean {
    return CSTS.RDY.of(this.registers.get32(CSTS)) === 1
  }

  /** Drops everything that the host set up by commands (Base 2.1 §3.7.2). */
  forget(): void {
    this.queues.clear()
    this.interrupts.reset()
    // A host that was reset owns these pages again and may write anything there.
    this.shadow = undefined
    this.events.reset()
    this.features.reset()
    applyQueueSettings(this)
    this.errors.reset()
    this.health.busy.reset(this.clock.now())
    this.grantedSqs = this.profile.ioQueuePairs
    this.grantedCqs = this.profile.ioQueuePairs
  }
}
