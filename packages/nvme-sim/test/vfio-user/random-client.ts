import type { Dice } from '../../dst/dice.js'
import {
  BAR0,
  CONFIG,
  DATA_BOOL,
  DATA_EVENTFD,
  DATA_NONE,
  DMA_MAP,
  DMA_UNMAP,
  REGION_READ,
  REGION_WRITE,
  RESET,
  SET_IRQS,
  TRIGGER,
  words,
  WRITE_MULTI,
} from './direct-client.js'

export const PAGE = 4096
/** Number of pages of the file that is the client's memory. */
export const FILE_PAGES = 32
/** Pages that can be mapped for writing. Pages before them are mapped only for reading, and pages after them never. */
export const WRITABLE = { first: 8, end: 24 } as const

/** Descriptors of a message. */
export type Beside = 'memory' | 'eventfds' | 'wrong' | undefined

/** A message of a hostile client. */
export interface RandomMessage {
  readonly command: number
  readonly data: Uint8Array
  readonly flags: number
  readonly beside: Beside
  /** Number of descriptors. */
  readonly count: number
}

/** Creates messages that are nearly valid, invalid in one field, or noise. */
export class RandomClient {
  private readonly dice: Dice

  constructor(dice: Dice) {
    this.dice = dice
  }

  /** Returns a random integer from 0 to `end` - 1. */
  below(end: number): number {
    return this.dice.int(0, end - 1)
  }

  pick<T>(values: readonly T[]): T {
    return this.dice.pick(values)
  }

  /** Writes random queue entries, PRP lists and noise to the client's memory. */
  scribble(memory: Uint8Array): void {
    const view = new DataView(memory.buffer, memory.byteOffset, memory.length)
    // With probability 1/2, among the first entries of the Admin queue.
    const entries = this.below(2) === 0 ? 16 : ((WRITABLE.end - WRITABLE.first) * PAGE) / 64
    const at = WRITABLE.first * PAGE + 64 * this.below(entries)
    view.setUint32(at, this.pick([0, 1, 2, 4, 5, 6, 8, 9, 12, 0x10, 0x19, 0x7c, 0x80]) | (this.below(256) << 16), true)
    view.setUint32(at + 4, this.pick([0, 1, 1, 1, 2, 0xffff_ffff]), true)
    for (const offset of [16, 24, 32]) view.setBigUint64(at + offset, BigInt(this.address()), true)
    for (const offset of [40, 44, 48, 52]) view.setUint32(at + offset, this.number32(), true)
  }

  next(): RandomMessage {
    const message = this.sensible()
    const { data } = message
    switch (this.below(16)) {
      // Cut short, or followed by noise.
      case 0:
        return { ...message, data: data.subarray(0, this.below(data.length + 1)) }
      case 1:
        return { ...message, data: Buffer.concat([data, new Uint8Array(this.below(64)).fill(this.below(256))]) }
      // One byte wrong.
      case 2:
      case 3: {
        const changed = Uint8Array.from(data)
        if (changed.length > 0) changed[this.below(changed.length)] = this.below(256)
        return { ...message, data: changed }
      }
      // Unexpected, wrong or missing descriptors.
      case 4:
        return { ...message, beside: this.pick(['memory', 'eventfds', 'wrong', undefined]), count: 1 + this.below(3) }
      case 5:
        return { ...message, command: this.pick([0, 1, 6, 11, 12, 14, 16, 17, 18, 99, 65535]) }
      case 6:
        return { ...message, flags: this.pick([0x10, 0x20, 0x100, 0xffff_fff0]) }
      default:
        return message
    }
  }

  private sensible(): RandomMessage {
    const none = { flags: this.pick([0, 0, 0x10]), beside: undefined, count: 0 }
    switch (this.below(16)) {
      case 12: {
        const pages = WRITABLE.end - WRITABLE.first
        const where = words([64, WRITABLE.first * PAGE], [64, WRITABLE.first * PAGE], [64, pages * PAGE])
        return {
          ...none,
          command: DMA_MAP,
          data: Buffer.concat([words([32, 32], [32, 3]), where]),
          beside: 'memory',
          count: 1,
        }
      }
      case 13: {
        // Enables the controller as a driver does, in one message.
        const [asq, acq] = [WRITABLE.first * PAGE, (WRITABLE.first + 1) * PAGE]
        const writes = [
          [0x14, 0],
          [0x24, 0x000f_000f],
          [0x28, asq],
          [0x2c, 0],
          [0x30, acq],
          [0x34, 0],
          [0x14, 0x0046_0001],
        ]
        const entries = writes.map(([offset, value]) => words([64, offset!], [32, BAR0], [32, 4], [64, value!]))
        return { ...none, command: WRITE_MULTI, data: Buffer.concat([words([64, writes.length]), ...entries]) }
      }
      case 14: {
        // D0, with memory space and bus mastering enabled.
        const [offset, value] = this.pick([
          [0x44, 0],
          [0x04, 0x0006],
        ] as const)
        return {
          ...none,
          command: REGION_WRITE,
          data: Buffer.concat([words([64, offset], [32, CONFIG], [32, 2]), words([16, value])]),
        }
      }
      case 0: {
        const isWritable = this.below(4) > 0
        const first = isWritable ? WRITABLE.first + this.below(16) : this.below(WRITABLE.first)
        const pages = 1 + this.below((isWritable ? WRITABLE.end : WRITABLE.first) - first)
        const where = words([64, first * PAGE], [64, this.pick([first, first, 1, 100]) * PAGE], [64, pages * PAGE])
        const data = Buffer.concat([words([32, 32], [32, isWritable ? 3 : 1]), where])
        return { ...none, command: DMA_MAP, data, beside: this.below(8) > 0 ? 'memory' : undefined, count: 1 }
      }
      case 1: {
        const data = words([32, 24], [32, this.pick([0, 0, 0, 2, 1])], [64, this.address()], [64, this.number32()])
        return { ...none, command: DMA_UNMAP, data }
      }
      case 2: {
        const kind = this.pick([DATA_NONE, DATA_BOOL, DATA_EVENTFD, DATA_EVENTFD])
        const count = this.below(4)
        const flags = kind | this.pick([TRIGGER, TRIGGER, TRIGGER, 8, 16])
        const fields = words(
          [32, 20],
          [32, flags],
          [32, this.pick([0, 2, 2, 2, 1, 3])],
          [32, this.below(6)],
          [32, count],
        )
        const data = Buffer.concat([fields, new Uint8Array(count).fill(this.below(2))])
        const isEventfds = kind === DATA_EVENTFD && count > 0
        return { ...none, command: SET_IRQS, data, beside: isEventfds ? 'eventfds' : undefined, count }
      }
      case 3:
        return {
          ...none,
          command: this.pick([4, 5, 7]),
          data: words([32, 32], [32, 0], [32, this.below(10)], [64, 0], [64, 0], [32, 0]),
        }
      case 4:
        return { ...none, command: RESET, data: new Uint8Array(0) }
      case 5: {
        const [offset, count] = [
          this.pick([0, 4, 0x10, 0x50, 0x52, this.below(4100)]),
          this.pick([1, 2, 4, 4, 8, 256, 4096]),
        ]
        return { ...none, command: REGION_READ, data: words([64, offset], [32, CONFIG], [32, count]) }
      }
      case 6: {
        const value = words([32, this.number32()])
        const [offset, count] = [this.pick([4, 4, 4, 0x10, 0x44, 0x52, 0x68, this.below(4100)]), this.pick([1, 2, 4])]
        const data = Buffer.concat([words([64, offset], [32, CONFIG], [32, count]), value.subarray(0, count)])
        return { ...none, command: REGION_WRITE, data }
      }
      case 7: {
        const writes = Array.from({ length: this.below(4) }, () => {
          const [offset, value] = this.register()
          return words([64, offset], [32, BAR0], [32, this.pick([4, 4, 4, 8, 1])], [64, value])
        })
        return { ...none, command: WRITE_MULTI, data: Buffer.concat([words([64, writes.length]), ...writes]) }
      }
      case 8: {
        const [offset] = this.register()
        return { ...none, command: REGION_READ, data: words([64, offset], [32, BAR0], [32, this.pick([4, 4, 8, 2])]) }
      }
      default: {
        const [offset, value] = this.register()
        return {
          ...none,
          command: REGION_WRITE,
          data: Buffer.concat([words([64, offset], [32, BAR0], [32, 4]), words([32, value])]),
        }
      }
    }
  }

  /** Returns a register and a value to write. Often those that enable the controller, so that its queues are used. */
  private register(): readonly [offset: number, value: number] {
    switch (this.below(10)) {
      case 0:
        return [0x24, this.pick([0x000f_000f, 0x0003_0003, this.number32()])]
      case 1:
        return [this.pick([0x28, 0x30]), this.address() >>> 0]
      case 2:
        return [this.pick([0x2c, 0x34]), this.pick([0, 0, 0, 1, 0x8000_0000])]
      case 3:
        return [0x14, this.pick([0x0046_0001, 0x0046_0001, 0x0046_0001, 0, 0x0046_4001, this.number32()])]
      case 4:
      case 5:
      case 6:
        return [0x1000 + 4 * this.below(8), this.below(16)]
      case 7:
        return [this.pick([0x0c, 0x10, 0x20, 0x2000, 0x200c, 0x3000]), this.number32()]
      default:
        return [4 * this.below(0x1100), this.number32()]
    }
  }

  /** Returns an address: often of a page that may be mapped. */
  private address(): number {
    const page = this.pick([WRITABLE.first, WRITABLE.first + this.below(16), this.below(40), 100])
    return this.below(8) > 0 ? page * PAGE : this.pick([0, page * PAGE + this.below(PAGE), 2 ** 40, 2 ** 53 - 4096])
  }

  private number32(): number {
    return this.pick([0, 1, 3, 7, 0x7fff_ffff, 0xffff_ffff, PAGE, 16 * PAGE, this.below(2 ** 32)])
  }
}
