import { describe, expect, test } from 'vitest'
import { Window, type WindowOptions } from './window.js'

const MIB = 1024 * 1024
const READ_BYTES = MIB

/** A model of a drive with a latency and a rate, and of a consumer that keeps the window full. */
class Drive {
  readonly window: Window
  latencyNs: number
  bytesPerNs: number
  private readonly ends: number[] = []
  private nowNs = 0
  private freeNs = 0

  constructor(
    { latencyNs, bytesPerNs }: Pick<Drive, 'latencyNs' | 'bytesPerNs'>,
    options: Partial<WindowOptions> = {},
  ) {
    this.latencyNs = latencyNs
    this.bytesPerNs = bytesPerNs
    this.window = new Window({ maxBytes: 32 * MIB, pieceBytes: READ_BYTES, ...options })
  }

  /** Reads, and returns the rate in bytes per nanosecond. */
  read(bytes: number, isStarved = false): number {
    const startNs = this.nowNs
    for (let done = 0; done < bytes; done += READ_BYTES) {
      while (this.window.hasRoomFor(READ_BYTES) && !(isStarved && this.ends.length > 0)) this.submit()
      if (isStarved) this.window.starve()
      this.nowNs = this.ends.shift()!
      this.window.end(READ_BYTES, { bytes: READ_BYTES, commands: 1, startNs, endNs: this.nowNs })
    }
    return bytes / (this.nowNs - startNs)
  }

  private submit(): void {
    this.window.begin(READ_BYTES)
    // The latency of one read overlaps with the transfer of others.
    this.freeNs = Math.max(this.freeNs, this.nowNs + this.latencyNs) + READ_BYTES / this.bytesPerNs
    this.ends.push(this.freeNs)
  }
}

const GIB = 1024 * MIB

describe('Window', () => {
  test.each([
    ['a fast drive', 80_000, 14],
    ['a slow drive', 100_000, 3.5],
    ['a drive with a long latency', 1_000_000, 7],
  ])(
    'the window for %s shrinks below twice bandwidth × latency plus one read, at the same rate',
    (_, latencyNs, bytesPerNs) => {
      const drive = new Drive({ latencyNs, bytesPerNs })
      drive.read(8 * GIB)
      const neededBytes = bytesPerNs * latencyNs + READ_BYTES
      expect(drive.window.limitBytes).toBeLessThan(2 * neededBytes)
      expect(drive.read(4 * GIB) / bytesPerNs).toBeGreaterThan(0.97)
    },
  )

  test('the window does not accumulate small losses of rate', () => {
    const drive = new Drive({ latencyNs: 0, bytesPerNs: 7 })
    let minBytes = Infinity
    for (let done = 0; done < 100 * GIB; done += 4 * MIB) {
      drive.bytesPerNs = 7 * (drive.window.limitBytes / (32 * MIB)) ** 0.05
      drive.read(4 * MIB)
      minBytes = Math.min(minBytes, drive.window.limitBytes)
    }
    // Two steps down at most: the second one is a trial.
    expect(minBytes).toBeGreaterThanOrEqual(32 * MIB * 0.75 ** 2)
  })

  test('grows again when the latency becomes longer', () => {
    const drive = new Drive({ latencyNs: 80_000, bytesPerNs: 3.5 })
    drive.read(8 * GIB)
    const before = drive.window.limitBytes
    drive.latencyNs = 2_000_000
    drive.read(64 * GIB)
    expect(drive.window.limitBytes).toBeGreaterThan(2 * before)
    expect(drive.read(8 * GIB) / drive.bytesPerNs).toBeGreaterThan(0.9)
  })

  test('follows a drive that becomes slower', () => {
    const drive = new Drive({ latencyNs: 1_000_000, bytesPerNs: 7 })
    drive.read(8 * GIB)
    drive.bytesPerNs = 1.5
    drive.read(64 * GIB)
    expect(drive.window.limitBytes).toBeLessThan(6 * MIB)
  })

  test('the window does not change while the consumer is slower than the drive', () => {
    const drive = new Drive({ latencyNs: 80_000, bytesPerNs: 7 })
    drive.read(8 * GIB, true)
    expect(drive.window.limitBytes).toBe(32 * MIB)
  })

  test('a trial that ends before its rate is measured is undone', () => {
    const drive = new Drive({ latencyNs: 80_000, bytesPerNs: 7 })
    while (drive.window.limitBytes === 32 * MIB) drive.read(READ_BYTES)
    drive.window.starve()
    expect(drive.window.limitBytes).toBe(32 * MIB)
    drive.read(8 * GIB)
    expect(drive.window.limitBytes).toBeLessThan(5 * MIB)
  })

  test('a window of a fixed length does not change', () => {
    const drive = new Drive({ latencyNs: 80_000, bytesPerNs: 7 }, { fixedBytes: 5 * MIB })
    drive.read(8 * GIB)
    expect(drive.window.limitBytes).toBe(5 * MIB)
  })

  test('lets one read begin, whatever its length, and others that fit', () => {
    const window = new Window({ maxBytes: 2 * MIB, pieceBytes: MIB })
    expect(window.hasRoomFor(3 * MIB)).toBe(true)
    window.begin(1.5 * MIB)
    expect([window.hasRoomFor(MIB), window.hasRoomFor(MIB / 2)]).toEqual([false, true])
    window.end(1.5 * MIB)
    expect(window.hasRoomFor(3 * MIB)).toBe(true)
  })
})
