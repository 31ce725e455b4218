import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { hostMemory } from '../../test/host-memory.js'
import { BufferedTransfers } from './buffers.js'
import { Transfers, Turns } from './transfers.js'

/** Waits until everything that can run without I/O has run. */
const idle = () => new Promise(setImmediate)

/** Transfers that end when the test says so. */
class Gate {
  readonly started: string[] = []
  private readonly ends = new Map<string, (error?: Error) => void>()

  /** Starts a transfer, and returns its name when it ends. */
  readonly transfer = (name: string): Promise<string> => {
    this.started.push(name)
    return new Promise((resolve, reject) => {
      this.ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)))
    })
  }

  /** Same as `transfer`, without a result. */
  readonly move = async (name: string): Promise<void> => {
    await this.transfer(name)
  }

  async succeed(name: string): Promise<void> {
    this.ends.get(name)!()
    await idle()
  }

  async fail(name: string): Promise<void> {
    this.ends.get(name)!(new Error(`${name} failed`))
    await idle()
  }
}

function rig(count: number, signal?: AbortSignal) {
  return { gate: new Gate(), transfers: new Transfers(new Turns(Array(count).keys()), signal) }
}

/** Runs `each` over pieces. The outcome is awaited later. */
function each({ gate, transfers }: ReturnType<typeof rig>, ...pieces: string[]): Promise<void> {
  const done = transfers.each(pieces, gate.move)
  done.catch(() => undefined)
  return done
}

describe('transfers in any order', () => {
  test('each() starts a transfer on every turn, and reuses a turn when its transfer ends', async () => {
    const { gate, ...rest } = rig(2)
    const done = each({ gate, ...rest }, 'a', 'b', 'c', 'd')
    await idle()
    expect(gate.started).toEqual(['a', 'b'])
    await gate.succeed('b')
    expect(gate.started).toEqual(['a', 'b', 'c'])
    await gate.succeed('c')
    await gate.succeed('d')
    await gate.succeed('a')
    await done
  })

  test('each() starts no transfers after a failure, and reports the first failure', async () => {
    const { gate, transfers } = rig(2)
    const done = each({ gate, transfers }, 'a', 'b', 'c')
    await idle()
    await gate.fail('b')
    expect(gate.started).toEqual(['a', 'b'])
    await expect(done).rejects.toThrow('b failed')
    await gate.fail('a')
    await expect(transfers.take()).rejects.toThrow('b failed')
    await expect(transfers.drain()).rejects.toThrow('b failed')
  })

  test('each() starts no transfers after an abort, and reports its reason', async () => {
    const abort = new AbortController()
    const { gate, transfers } = rig(2, abort.signal)
    const done = each({ gate, transfers }, 'a', 'b', 'c')
    await idle()
    abort.abort(new Error('enough'))
    await gate.succeed('a')
    await expect(done).rejects.toThrow('enough')
    expect(gate.started).toEqual(['a', 'b'])
  })

  test('each() reports an error that is thrown synchronously', async () => {
    const { transfers } = rig(1)
    const broken = (): never => {
      throw new Error('broken')
    }
    await expect(transfers.each(['a', 'b'], broken)).rejects.toThrow('broken')
  })

  test('disposal waits until all transfers in flight have ended', async () => {
    const { gate, transfers } = rig(2)
    void each({ gate, transfers }, 'a', 'b')
    await idle()
    let isOver = false
    const disposed = transfers[Symbol.asyncDispose]().then(() => (isOver = true))
    await gate.fail('a')
    expect(isOver).toBe(false)
    await gate.succeed('b')
    await disposed
  })

  test('concurrent calls get turns in order of arrival, even after one of them fails', async () => {
    const turns = new Turns([1])
    const [first, second] = [new Transfers(turns), new Transfers(turns)]
    const gate = new Gate()
    const failed = each({ gate, transfers: first }, 'a1', 'a2')
    const done = each({ gate, transfers: second }, 'b1', 'b2')
    await idle()
    await gate.fail('a1')
    await gate.succeed('b1')
    await expect(failed).rejects.toThrow('a1 failed')
    await gate.succeed('b2')
    await done
    expect(gate.started).toEqual(['a1', 'b1', 'b2'])
  })
})

describe('landing', () => {
  async function land(end: (gate: Gate) => Promise<void>): Promise<{ landed: string[]; error: unknown }> {
    const { gate, transfers } = rig(3)
    const landed: string[] = []
    for (const piece of ['a', 'b', 'c']) {
      transfers.run(
        await transfers.take(),
        () => gate.move(piece),
        () => landed.push(piece),
      )
    }
    await end(gate)
    const error = await transfers.drain().catch((reason: unknown) => reason)
    return { landed, error }
  }

  test('transfers land in the order in which they were started', async () => {
    const inReverse = async (gate: Gate) => {
      for (const piece of ['c', 'b', 'a']) await gate.succeed(piece)
    }
    expect(await land(inReverse)).toEqual({ landed: ['a', 'b', 'c'], error: undefined })
  })

  test('no transfer lands after one that failed', async () => {
    const withFailure = async (gate: Gate) => {
      await gate.fail('b')
      await gate.succeed('c')
      await gate.succeed('a')
    }
    expect(await land(withFailure)).toMatchObject({ landed: ['a'], error: { message: 'b failed' } })
  })
})

describe('transfers in order', () => {
  /** Iterates in the background; `used` are the results that the loop has got. */
  function iterate({ gate, transfers }: ReturnType<typeof rig>, ...pieces: string[]) {
    const used: string[] = []
    const next = new Set<() => void>()
    const all = async () => {
      for await (const result of transfers.inOrder(pieces, gate.transfer)) {
        used.push(result)
        await new Promise<void>((resume) => next.add(resume))
      }
    }
    const done = all()
    done.catch(() => undefined)
    const proceed = async () => {
      for (const resume of next) resume()
      next.clear()
      await idle()
    }
    return { used, done, proceed }
  }

  test('inOrder() yields results in order, and reuses a turn only after its result was used', async () => {
    const { gate, transfers } = rig(2)
    const { used, done, proceed } = iterate({ gate, transfers }, 'a', 'b', 'c')
    await idle()
    await gate.succeed('b')
    expect(used).toEqual([])
    await gate.succeed('a')
    expect([used, gate.started]).toEqual([['a'], ['a', 'b']])
    await proceed()
    expect([used, gate.started]).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
    ])
    await gate.succeed('c')
    await proceed()
    await proceed()
    await done
    expect(used).toEqual(['a', 'b', 'c'])
  })

  test('inOrder() yields all results before a failed transfer, then reports the failure', async () => {
    const { gate, transfers } = rig(4)
    const { used, done, proceed } = iterate({ gate, transfers }, 'a', 'b', 'c', 'd', 'e')
    await idle()
    await gate.fail('c')
    for (const piece of ['d', 'b', 'a']) await gate.succeed(piece)
    for (let step = 0; step < 3; step++) await proceed()
    await expect(done).rejects.toThrow('c failed')
    expect([used, gate.started]).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c', 'd'],
    ])
  })

  test('inOrder() yields the results from before an abort, then reports its reason', async () => {
    const abort = new AbortController()
    const { gate, transfers } = rig(2, abort.signal)
    const { used, done, proceed } = iterate({ gate, transfers }, 'a', 'b', 'c')
    await idle()
    await gate.succeed('a')
    await gate.succeed('b')
    abort.abort(new Error('enough'))
    for (let step = 0; step < 2; step++) await proceed()
    await expect(done).rejects.toThrow('enough')
    expect([used, gate.started]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  })
})

describe('buffers', () => {
  /** An allocator of host memory; its allocation `failsAt` fails. */
  function allocator(failsAt = Infinity) {
    const state = { allocations: 0, held: 0 }
    const dma: DmaAllocator = {
      alloc: (lengthBytes) => {
        if (++state.allocations === failsAt) throw new RangeError('out of memory')
        state.held++
        const free = () => {
          state.held--
        }
        return { ...hostMemory(new Uint8Array(lengthBytes)), free }
      },
    }
    return { dma, state }
  }

  test('buffers are freed when no transfer is in flight', async () => {
    const { dma, state } = allocator()
    const gate = new Gate()
    const transfers = new BufferedTransfers(dma, 2, 512)
    transfers.run(await transfers.take(), () => gate.move('a'))
    const disposed = transfers[Symbol.asyncDispose]()
    await idle()
    expect(state.held).toBe(2)
    await gate.fail('a')
    await disposed
    expect(state.held).toBe(0)
  })

  test('buffers are freed when another buffer cannot be allocated', () => {
    const { dma, state } = allocator(3)
    expect(() => new BufferedTransfers(dma, 4, 512)).toThrow('out of memory')
    expect(state).toEqual({ allocations: 3, held: 0 })
  })

  test('buffers that the host cannot access are rejected and freed', () => {
    const { dma, state } = allocator()
    const alloc: DmaAllocator['alloc'] = (lengthBytes) => {
      const { view, ...hidden } = dma.alloc(lengthBytes)
      expect(view).toBeDefined()
      return hidden
    }
    expect(() => new BufferedTransfers({ alloc }, 1, 512)).toThrow(TypeError)
    expect(state.held).toBe(0)
  })
})
