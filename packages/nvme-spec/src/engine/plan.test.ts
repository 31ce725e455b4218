import { describe, expect, test } from 'vitest'
import { AcceptedPlan, checkPlan, type PlanQueue } from './plan.js'
import type { DmaMemory, Plan } from '../transport/index.js'
import { segments } from '../../test/segments.js'

describe('accepted plan', () => {
  const plan = () => ({
    operation: 'read' as 'read' | 'write',
    ...{ nsid: 1, blockBytes: 512, commands: 2 },
    ...{ slba: Float64Array.of(8, 16), blocks: Uint32Array.of(1, 2) },
    ...{ offsetBytes: Float64Array.of(0, 512), queue: Uint16Array.of(0, 1) },
  })

  test('copies a plan, so that later changes of the plan have no effect', () => {
    const given = plan()
    const accepted = AcceptedPlan.of(given)
    expect(accepted).toEqual(new AcceptedPlan(plan()))
    given.operation = 'write'
    given.commands = 1
    for (const column of [given.slba, given.blocks, given.offsetBytes, given.queue]) column.fill(7)
    expect(accepted).toEqual(new AcceptedPlan(plan()))
  })

  test('does not copy an accepted plan again', () => {
    const accepted = AcceptedPlan.of(plan())
    expect(AcceptedPlan.of(accepted)).toBe(accepted)
  })

  test('reads each property once', () => {
    const given = plan()
    const reads: PropertyKey[] = []
    const watched = new Proxy<Plan>(given, {
      get(target, name) {
        reads.push(name)
        return target[name as keyof Plan]
      },
    })
    AcceptedPlan.of(watched)
    expect(reads.sort()).toEqual(Object.keys(given).sort())
  })

  test.each([
    ['queue', [0, 1], 'plan.queue: expected a Uint16Array, got Array'],
    ['slba', new BigUint64Array(2), 'plan.slba: expected a Float64Array, got BigUint64Array'],
    ['blocks', undefined, 'plan.blocks: expected a Uint32Array, got Undefined'],
  ])('rejects a plan whose %s has the wrong type', (name, column, message) => {
    const wrong = { ...plan(), [name]: column } as unknown as Plan
    expect(() => AcceptedPlan.of(wrong)).toThrow(new TypeError(message))
  })
})

describe('check plan', () => {
  const memory = segments([0x10_0000, 65_536])

  /** Returns a plan of consecutive reads of 8 blocks of 512 bytes each. */
  function plan(commands: number, change: Partial<Plan> = {}): Plan {
    return {
      operation: 'read',
      nsid: 1,
      blockBytes: 512,
      commands,
      slba: Float64Array.from({ length: commands }, (_, command) => command * 8),
      blocks: new Uint32Array(commands).fill(8),
      offsetBytes: Float64Array.from({ length: commands }, (_, command) => command * 4096),
      queue: new Uint16Array(commands),
      ...change,
    }
  }

  const queue: PlanQueue = { maxTransferBytes: 8192, problem: () => undefined }

  test('accepts plans that memory and queues can serve, including one that fills the memory and an empty one', () => {
    expect(() => checkPlan(plan(16), memory, [queue])).not.toThrow()
    expect(() => checkPlan(plan(0), memory, [queue])).not.toThrow()
    const longest = plan(1, { operation: 'write', blocks: Uint32Array.of(16), slba: Float64Array.of(2 ** 53 - 1) })
    expect(() => checkPlan(longest, memory, [queue])).not.toThrow()
  })

  test('rejects an engine without queues', () => {
    expect(() => checkPlan(plan(1), memory, [])).toThrow(new TypeError('the engine has no queues: call attach() first'))
  })

  test('rejects an operation other than read and write', () => {
    const other = plan(1, { operation: 'verify' as 'read' })
    expect(() => checkPlan(other, memory, [queue])).toThrow(
      new TypeError(`plan.operation: expected 'read' or 'write', got "verify"`),
    )
  })

  describe('rejects with a RangeError', () => {
    test.each<[string, Plan, string]>([
      ['an invalid block size', plan(1, { blockBytes: 511 }), 'plan.blockBytes: expected at least 512, got 511'],
      ['arrays of the wrong length', plan(2, { blocks: Uint32Array.of(8) }), 'plan.blocks: expected 2 entries, got 1'],
      [
        'a queue that does not exist',
        plan(2, { queue: Uint16Array.of(0, 2) }),
        'plan command 1: expected a queue from 0 to 1, got 2',
      ],
      ['no blocks', plan(1, { blocks: Uint32Array.of(0) }), 'plan command 0: expected 1 to 65536 blocks, got 0'],
      [
        'more blocks than NLB can encode',
        plan(1, { blocks: Uint32Array.of(65_537) }),
        'plan command 0: expected 1 to 65536 blocks, got 65537',
      ],
      ['half an LBA', plan(1, { slba: Float64Array.of(0.5) }), 'plan command 0: expected an LBA below 2^53, got 0.5'],
      [
        'an LBA that a number cannot represent exactly',
        plan(1, { slba: Float64Array.of(2 ** 53) }),
        'plan command 0: expected an LBA below 2^53, got 9007199254740992',
      ],
      [
        'bytes before the start of the memory',
        plan(1, { offsetBytes: Float64Array.of(-4) }),
        'plan command 0: expected bytes inside the memory of 65536 bytes, got bytes -4 to 4092',
      ],
      [
        'bytes after the end of the memory',
        plan(17),
        'plan command 16: expected bytes inside the memory of 65536 bytes, got bytes 65536 to 69632',
      ],
      [
        'bytes that cross the end of the memory',
        plan(1, { offsetBytes: Float64Array.of(65_024) }),
        'plan command 0: expected bytes inside the memory of 65536 bytes, got bytes 65024 to 69120',
      ],
      [
        'an address that is not dword aligned',
        plan(1, { offsetBytes: Float64Array.of(2) }),
        'plan command 0: expected a dword-aligned address for PRP1, got byte 2 of the memory',
      ],
      [
        'more than a command can transfer',
        plan(1, { blocks: Uint32Array.of(17) }),
        'plan command 0: expected at most 8192 bytes, got 8704',
      ],
    ])('%s', (_, refused, message) => {
      expect(() => checkPlan(refused, memory, [queue, queue])).toThrow(new RangeError(message))
    })
  })

  test('rejects memory that the queue of a command cannot describe; checks only the bytes of the commands', () => {
    const asked: unknown[] = []
    const picky: PlanQueue = {
      maxTransferBytes: 8192,
      problem(of: DmaMemory, offsetBytes, lengthBytes) {
        asked.push([of === memory, offsetBytes, lengthBytes])
        return offsetBytes === 8192 ? 'other memory, got this' : undefined
      },
    }
    const dealt = plan(4, { queue: Uint16Array.of(1, 0, 1, 0) })
    expect(() => checkPlan(dealt, memory, [queue, picky])).toThrow(
      new RangeError('plan command 2: expected other memory, got this'),
    )
    expect(asked).toEqual([
      [true, 0, 4096],
      [true, 8192, 4096],
    ])
  })
})
