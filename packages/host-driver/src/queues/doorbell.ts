import { mustRing } from '@gpunvme/nvme-spec'
import type { Bar, ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { reachable, type ReachableMemory } from '../memory/reachable.js'

/**
 * One doorbell: a register, or a word of the Shadow Doorbell buffer if the controller polls host memory. The register
 * is then written only if the controller requested it (Base 2.1 §5.2.5).
 */
export class Doorbell {
  /** Number of register writes. */
  writes = 0
  private readonly bar: Bar
  private readonly offset: number
  private readonly shadow: Shadow | undefined

  constructor(bar: Bar, offset: number, shadow: ShadowDoorbell | undefined) {
    this.bar = bar
    this.offset = offset
    this.shadow = shadow && new Shadow(shadow)
  }

  ring(value: number): void {
    if (this.shadow?.takes(value) === true) return
    this.bar.write32(this.offset, value)
    this.writes++
  }
}

/** Atomic accesses of one word: a plain store could be delayed until EventIdx is read, and both sides would wait. */
class Shadow {
  private readonly place: ShadowDoorbell
  private readonly shadow: Int32Array
  private readonly eventIdx: Int32Array
  private value: number

  constructor(place: ShadowDoorbell) {
    this.place = place
    this.shadow = wordOf(reachable(place.shadow), place.offsetBytes)
    this.eventIdx = wordOf(reachable(place.eventIdx), place.offsetBytes)
    this.value = Atomics.load(this.shadow, 0)
  }

  /** Returns true if the controller sees the value without a write to its register. */
  takes(value: number): boolean {
    const { shadow, eventIdx, offsetBytes } = this.place
    const before = this.value
    this.value = value
    Atomics.store(this.shadow, 0, value)
    shadow.forDevice(offsetBytes, 4)
    eventIdx.forHost(offsetBytes, 4)
    return !mustRing(before, value, Atomics.load(this.eventIdx, 0) & 0xffff)
  }
}

function wordOf({ view }: ReachableMemory, offsetBytes: number): Int32Array {
  return new Int32Array(view.buffer, view.byteOffset + offsetBytes, 1)
}
