import { STATUS } from '@gpunvme/nvme-spec'
import { describe, expect, it } from 'vitest'
import type { MemoryAccess, ReachableMemory } from './reachable.js'
import { contentsOf, gather, moveRuns, Runs, scatter } from './runs.js'

/** Memory from address 0 in pieces of the given lengths, which records its calls. */
class PiecedMemory implements ReachableMemory {
  readonly all: readonly Uint8Array[]
  readonly asked: string[] = []

  constructor(...lengths: readonly number[]) {
    this.all = lengths.map((length) => new Uint8Array(length))
  }

  bytes(iova: number, lengthBytes: number, access: MemoryAccess = 'read'): Uint8Array | undefined {
    this.asked.push(`bytes to ${access}`)
    const pieces = this.find(iova, lengthBytes)
    return pieces?.length === 1 ? pieces[0] : undefined
  }

  pieces(iova: number, lengthBytes: number, access: MemoryAccess = 'read'): readonly Uint8Array[] | undefined {
    this.asked.push(`pieces to ${access}`)
    return this.find(iova, lengthBytes)
  }

  has(iova: number, lengthBytes: number): boolean {
    return this.find(iova, lengthBytes) !== undefined
  }

  explainUnmapped(): string {
    return 'no memory there'
  }

  private find(iova: number, lengthBytes: number): Uint8Array[] | undefined {
    const found: Uint8Array[] = []
    let first = 0
    for (const piece of this.all) {
      const [from, to] = [Math.max(iova, first), Math.min(iova + lengthBytes, first + piece.length)]
      if (from < to) found.push(piece.subarray(from - first, to - first))
      first += piece.length
    }
    return iova + lengthBytes <= first ? found : undefined
  }
}

function runsOf(...list: readonly (readonly [iova: number, lengthBytes: number])[]): Runs {
  const runs = new Runs()
  for (const [iova, lengthBytes] of list) runs.add(iova, lengthBytes)
  return runs
}

describe('runs across several pieces of memory', () => {
  it('are written and read in order', () => {
    const memory = new PiecedMemory(4, 1, 6)
    const runs = runsOf([2, 5], [9, 2])
    const given = Uint8Array.of(1, 2, 3, 4, 5, 6, 7)
    expect(scatter(runs, memory, given)).toBeUndefined()
    expect(memory.all).toEqual([Uint8Array.of(0, 0, 1, 2), Uint8Array.of(3), Uint8Array.of(4, 5, 0, 0, 6, 7)])
    const back = new Uint8Array(7)
    expect(gather(runs, memory, back)).toBeUndefined()
    expect(back).toEqual(given)
    expect(memory.asked).toEqual(
      ['write', 'read'].flatMap((access) => [`bytes to ${access}`, `pieces to ${access}`, `bytes to ${access}`]),
    )
  })

  it('are written up to the end of the data; discarded runs consume data', () => {
    const memory = new PiecedMemory(4, 4)
    const runs = runsOf([0, 2])
    runs.discard(3)
    runs.add(2, 4)
    expect(scatter(runs, memory, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))).toBeUndefined()
    expect(memory.all).toEqual([Uint8Array.of(1, 2, 6, 7), Uint8Array.of(8, 0, 0, 0)])
  })

  it('are a Data Transfer Error, without access to any piece, if a part has no memory', () => {
    const memory = new PiecedMemory(4, 4)
    expect(scatter(runsOf([2, 7]), memory, new Uint8Array(7).fill(1))).toBe(STATUS.DATA_TRANSFER_ERROR)
    expect(gather(runsOf([2, 7]), memory, new Uint8Array(7))).toBe(STATUS.DATA_TRANSFER_ERROR)
    expect(memory.all.every((piece) => piece.every((byte) => byte === 0))).toBe(true)
  })

  it('are passed piece by piece, each with its offset in the data', () => {
    const moved: (readonly [number, number])[] = []
    const note = (list: typeof moved, piece: Uint8Array, at: number) => void list.push([at, piece.length])
    moveRuns(runsOf([1, 3], [6, 5]), new PiecedMemory(4, 4, 4), 'read', Infinity, moved, note)
    expect(moved).toEqual([
      [0, 3],
      [3, 2],
      [5, 3],
    ])
  })
})

it('a run in one piece needs one lookup', () => {
  const memory = new PiecedMemory(4, 4)
  gather(runsOf([0, 4]), memory, new Uint8Array(4))
  contentsOf(memory, 4, 4)
  expect(memory.asked).toEqual(['bytes to read', 'bytes to read'])
})

it('contentsOf returns a view of one piece, and a copy of several', () => {
  const memory = new PiecedMemory(2, 2)
  memory.all.forEach((piece, i) => piece.fill(i + 1))
  expect(contentsOf(memory, 1, 3)).toEqual(Uint8Array.of(1, 2, 2))
  expect(contentsOf(memory, 0, 2)!.buffer).toBe(memory.all[0]!.buffer)
  expect(contentsOf(memory, 1, 4)).toBeUndefined()
})
