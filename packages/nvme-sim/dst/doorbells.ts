import type { Bar } from '@gpunvme/nvme-spec/transport'
import { headDoorbell, tailDoorbell } from '../conformance/raw-host/registers.js'
import type { Region } from './region.js'

/** The doorbells of all queues: registers, or memory with EventIdx of the controller (Base 2.1 §5.2.5, §B.5). */
export class Doorbells {
  strideBytes = 4
  private readonly bar: Bar
  private shadow: { readonly values: Region; readonly eventIndexes: Region } | undefined

  constructor(bar: Bar) {
    this.bar = bar
  }

  /** From now on doorbells are in memory; `values` are those that were written last. The controller writes the other. */
  useMemory(values: Region, eventIndexes: Region): void {
    this.shadow = { values, eventIndexes }
    eventIndexes.isUnknown = true
  }

  get areInMemory(): boolean {
    return this.shadow !== undefined
  }

  /** The controller has forgotten the memory. */
  reset(): void {
    this.shadow = undefined
  }

  /** Offset of a doorbell in the registers behind 1000h, and in memory. */
  offsetOf(qid: number, isTail: boolean): number {
    return (2 * qid + (isTail ? 0 : 1)) * this.strideBytes
  }

  /** A queue is about to be created: its doorbell is 0. */
  clear(qid: number, isTail: boolean): void {
    const { shadow } = this
    if (shadow === undefined) return
    const at = this.offsetOf(qid, isTail)
    shadow.values.view.setUint32(at, 0, true)
    shadow.values.accept(at, 4)
  }

  /** Writes a doorbell. In memory, the register is written only if the controller has asked for that, or if forced. */
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
