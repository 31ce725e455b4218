import type { AbortSignalLike, Checksummer, Clock, CopyEngine, DeviceMemory } from '@gpunvme/nvme-spec/transport'
import type { LinkTimesCounter } from './link-times.js'
import type { LoadedLayer } from './source.js'

/** Copies layers to GPU memory and times the copies. The engine executes them in order. */
export class Copier {
  readonly engine: CopyEngine
  private readonly clock: Clock
  private readonly times: LinkTimesCounter
  private readonly checksummer: Checksummer | undefined
  private lastEndNs = -Infinity

  /** @param checksummer compares each copy with what was read; copies are not checked without one */
  constructor(engine: CopyEngine, clock: Clock, times: LinkTimesCounter, checksummer?: Checksummer) {
    this.engine = engine
    this.clock = clock
    this.times = times
    this.checksummer = checksummer
  }

  get checks(): boolean {
    return this.checksummer !== undefined
  }

  /** @throws errors of the copy engine and of `LoadedLayer.checkCopy` */
  async copy(layer: LoadedLayer, to: DeviceMemory, signal: AbortSignalLike): Promise<void> {
    const askedNs = this.clock.now()
    await this.engine.copy(layer.memory, 0, to, 0, layer.lengthBytes)
    const endNs = this.clock.now()
    this.times.add('copy', { startNs: Math.min(endNs, Math.max(askedNs, this.lastEndNs)), endNs })
    this.lastEndNs = endNs
    if (this.checksummer !== undefined) await layer.checkCopy(to, this.checksummer, signal)
  }
}
