import type { Bar } from '@gpunvme/nvme-spec/transport'
import { headDoorbell, tailDoorbell } from '../conformance/raw-host/registers.js'
import type { Region } from './region.js'

/** The doorbells of all queues: registers, or shadow doorbells and EventIdx in memory (Base 2.1 §5.2.5, §B.5). */
export class Doorbells {
  strideBytes = 4
  private readonly bar: Bar
  private shadow: { readonly values: Region; readonly eventIndexes: Region } | undefined

  constructor(bar: Bar) {
    this.bar = bar
  }

  /** Switches to shadow doorbells. `values` holds the last written values; the controller writes `eventIndexes`. */
  useMemory(values: Region, eventIndexes: Region): void {
    this.shadow = { values, eventIndexes }
    eventIndexes.isUnknown = true
  }

  get areInMemory(): boolean {
    return this.shadow !== undefined
  }

  /** Switches back to registers, after a reset of the controller. */
  reset(): void {
    this.shadow = undefined
  }

  /** Offset of a doorbell, in memory and in the registers from 1000h. */
  offsetOf(qid: number, isTail: boolean): number {
    return (2 * qid + (isTail ? 0 : 1)) * this.strideBytes
  }

  /** Sets the doorbell of a queue to 0, before the queue is created. */
  clear(qid: number, isTail: boolean): void {
    const { shadow } = this
    if (shadow === undefined) return
    const at = this.offsetOf(qid, isTail)
    shadow.values.view.setUint32(at, 0, true)
    shadow.values.accept(at, 4)
  }

  /** Writes a doorbell. With shadow doorbells, writes the register only if EventIdx requests it, or if `isForced`. */
  ring(qid: number, isTail: boolean, value: number, entries: number, isForced = false): void {
    const { shadow } = this
    if (shadow === undefined) {
      this.write(qid, isTail, value)
      return
    }
    const at = this.offsetOf(qid, isTail)
    const old = shadow.values.view.getUint32(at, true)
    shadow.values.view.setUint32(at, value, true)
    shadow.values.accept(at, 4)
    const event = shadow.eventIndexes.view.getUint32(at, true)
    const modulo = (difference: number) => ((difference % entries) + entries) % entries
    if (isForced || modulo(value - event) <= modulo(value - old)) this.write(qid, isTail, value)
  }

  private write(qid: number, isTail: boolean, value: number): void {
    this.bar.write32((isTail ? tailDoorbell : headDoorbell)(qid, this.strideBytes), value)
  }
}
