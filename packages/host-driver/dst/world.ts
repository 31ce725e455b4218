import { zeroBased } from '@gpunvme/nvme-spec'
import { deriveProfile, profiles, simulate, type Simulation } from '@gpunvme/nvme-sim'
import type { FaultReport } from '@gpunvme/nvme-spec/faults'
import type { FaultAction, TraceEvent, TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { faulty } from '../src/index.js'
import type { NamespaceShape, Scenario } from './scenario.js'
import { CachedMedia, Dice, injectedByKind } from '@gpunvme/nvme-sim/dst'
import { CREATED_BLOCKS } from './make-scenario.js'
import { TurnClock } from './turn-clock.js'
import { Watched } from './watched.js'

/** Faults that damage the data of a command without any sign of it in the completion. */
const DAMAGING: readonly FaultAction['kind'][] = ['corrupt-data', 'torn-dma', 'wrong-page']

export const SERIAL = 'DST00001'

/** Format of the namespace with metadata. */
const METADATA = { blockBytes: 512, metadataBytes: 8, blocks: 64 } as const

/** Media of a namespace, with a callback for the deallocation of all blocks, as by Format NVM. */
class NamespaceMedia extends CachedMedia {
  onErase: () => void = () => undefined

  override deallocate(offsetBytes: number, lengthBytes: number): void {
    super.deallocate(offsetBytes, lengthBytes)
    if (lengthBytes === this.capacityBytes) this.onErase()
  }
}

/** A command that the controller has fetched. */
export interface Fetched {
  readonly operation: 'read' | 'write'
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
}

/** The simulated controller of a scenario, its transport, and the faults that have occurred. */
export class World {
  readonly simulation: Simulation
  readonly clock: TurnClock
  readonly watched: Watched
  /** Namespaces of the scenario by NSID, with their current format. */
  readonly media = new Map<number, { shape: NamespaceShape; readonly media: NamespaceMedia }>()
  /** Media of the namespace with metadata. */
  readonly withMetadata: CachedMedia | undefined
  powerLosses = 0
  /** Called for a command whose data a fault has damaged. */
  onDamage: (command: Fetched) => void = () => undefined
  private readonly scenario: Scenario
  private readonly boundaryFaults: FaultReport
  private readonly powerDice: Dice
  /** Last fetched command by SQ and CID. */
  private readonly fetched = new Map<string, Fetched>()

  constructor(scenario: Scenario, trace?: TraceSink) {
    const { seed, controller, namespaces, inside, boundary } = scenario
    this.scenario = scenario
    this.powerDice = new Dice(seed, 'driver dst power')
    for (const shape of namespaces) {
      this.media.set(shape.nsid, { shape, media: new NamespaceMedia(shape.blocks * shape.blockBytes) })
    }
    const { blockBytes: dataBytes, metadataBytes, blocks: metadataBlocks } = METADATA
    if (scenario.withMetadata !== undefined) {
      this.withMetadata = new CachedMedia(metadataBlocks * (dataBytes + metadataBytes))
    }
    const needsDetails = trace !== undefined || inside.rules.some(({ action: { kind } }) => DAMAGING.includes(kind))
    this.simulation = simulate({
      seed,
      profile: deriveProfile(controller.profile, {
        CAP: { MQES: zeroBased(controller.maxEntries), DSTRD: controller.dstrd, MPSMIN: controller.mpsmin, MPSMAX: 4 },
        identify: { SN: SERIAL, MDTS: controller.mdts, ...(controller.hasSgl === false && { SGLS: {} }) },
        ioQueuePairs: Math.min(controller.ioQueuePairs, profiles[controller.profile].ioQueuePairs),
      }),
      fragmented: controller.fragmented,
      faults: inside,
      namespaces: [
        ...namespaces.map(({ nsid, blockBytes }) => ({ nsid, blockBytes, media: this.media.get(nsid)!.media })),
        ...(this.withMetadata
          ? [{ nsid: scenario.withMetadata!, blockBytes: dataBytes, metadataBytes, media: this.withMetadata }]
          : []),
      ],
      ...(scenario.manages && { spareCapacityBytes: CREATED_BLOCKS * 4096 }),
      ...(needsDetails && {
        trace: (event: TraceEvent) => {
          this.look(event)
          trace?.(event)
        },
      }),
    })
    this.clock = new TurnClock(this.simulation.clock)
    const { transport } = this.simulation
    const interrupts = this.clock.waitingFor(transport.interrupts!)
    const disturbed = faulty({ ...transport, clock: this.clock, interrupts }, boundary, {
      seed,
      ...(trace && { trace }),
    })
    this.boundaryFaults = disturbed.faults
    this.watched = new Watched(disturbed)
  }

  get transport(): Transport {
    return this.watched.transport
  }

  /** Number of faults that have occurred so far, by kind. */
  get injected(): Record<string, number> {
    const counts = injectedByKind(this.scenario.inside, this.simulation.faults)
    for (const [kind, times] of Object.entries(injectedByKind(this.scenario.boundary, this.boundaryFaults))) {
      counts[kind] = (counts[kind] ?? 0) + times
    }
    return counts
  }

  /** Number of faults that have occurred so far, including power losses. */
  get injectedCount(): number {
    return Object.values(this.injected).reduce((sum, times) => sum + times, this.powerLosses)
  }

  /** Power-cycles the drive; each unit of its cache may be lost. */
  losePower(): void {
    this.powerLosses++
    this.simulation.powerCycle()
    for (const { media } of this.media.values()) media.losePower(() => this.powerDice.chance(0.5))
  }

  get isRemoved(): boolean {
    return 'remove-device' in this.injected
  }

  private look({ track, name, command, details }: TraceEvent): void {
    if (command !== undefined) {
      const { qid, cid, nsid, slba = 0, nlb = 0 } = command
      const operation = command.name.startsWith('Write') ? 'write' : 'read'
      this.fetched.set(`SQ ${qid} CID ${cid}`, { operation, nsid, slba: Number(slba), blocks: nlb + 1 })
    } else if (track === 'fault' && DAMAGING.includes(name as FaultAction['kind'])) {
      this.onDamage(this.fetched.get(String(details!['where']))!)
    }
  }
}
