import type { Bar, FaultAction, Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, it } from 'vitest'
import { simulate, type SimulationOptions } from '../src/index.js'
import { check, equal, notApplicable, status, success } from './check.js'
import { transfer } from './raw-host/entry.js'
import { controllerCases, runControllerCase, type ControllerCase } from './index.js'

const small = { namespaces: [{ capacityBytes: 1024 * 1024 }] }

function open(options?: SimulationOptions, change: (transport: Transport) => Transport = (it) => it) {
  return () => Promise.resolve(change(simulate({ ...small, ...options }).transport))
}

function caseOf(run: ControllerCase['run'], needs?: ControllerCase['needs']): ControllerCase {
  return { id: 'tried', title: 'Something is so', spec: 'Base 2.3 §0', run, ...(needs && { needs }) }
}

/** The transport with some accesses of its registers done otherwise. */
function withBar(transport: Transport, change: (bar: Bar) => Partial<Bar>): Transport {
  const { bar } = transport
  const own: Bar = {
    lengthBytes: bar.lengthBytes,
    read32: (offset) => bar.read32(offset),
    read64: (offset) => bar.read64(offset),
    write32: (offset, value) => {
      bar.write32(offset, value)
    },
    write64: (offset, value) => {
      bar.write64(offset, value)
    },
  }
  return { ...transport, clock: transport.clock, dma: transport.dma, bar: { ...own, ...change(bar) } }
}

const messageOf = async (each: ControllerCase, opened = open()) => {
  const result = await runControllerCase(each, opened)
  return result.outcome === 'failed' ? result.error.message : result.outcome
}

describe('running a controller case', () => {
  it('passes it when its checks hold', async () => {
    const result = await runControllerCase(
      caseOf(async (host) => {
        await host.startWithPair()
        check(host.facts.blockBytes === 512, 'blocks have 512 bytes')
      }),
      open(),
    )
    expect(result).toEqual({ outcome: 'passed' })
  })

  it('skips it for the reason that it needs something, or finds that it does not apply', async () => {
    const never = () => Promise.reject(new Error('it ran'))
    expect(
      await runControllerCase(
        caseOf(never, ({ nn }) => `NN is ${nn}`),
        open(),
      ),
    ).toEqual({
      outcome: 'skipped',
      reason: 'NN is 1',
    })
    const applies = caseOf(() => notApplicable('there is no such thing'))
    expect(await runControllerCase(applies, open())).toEqual({ outcome: 'skipped', reason: 'there is no such thing' })
  })

  it('says what was asked, what came and what is right', async () => {
    const asks = caseOf(async (host) => {
      await host.start()
      success(await host.admin({ opcode: 0x06, nsid: 3, cdw: { 10: 0xff } }))
    })
    expect(await messageOf(asks)).toBe(
      'tried: Something is so (Base 2.3 §0)\n' +
        'Admin command 06h with NSID 3h, CDW10 ffh: expected status 0/00 (SCT/SC), got 0/02',
    )
    const compares = caseOf((host) => {
      equal('CC', 16, 10)
      return host.start()
    })
    expect(await messageOf(compares)).toMatch(/^tried: .*\nCC: expected 10 \(ah\), got 16 \(10h\)$/)
    const bits = caseOf((host) => {
      equal('CSTS', 1, 0x10)
      return host.start()
    })
    expect(await messageOf(bits)).toMatch(/\nCSTS: expected 16 \(10h\), got 1 \(1h\)$/)
  })

  it('fails it when the controller writes outside of the memory that it was given', async () => {
    const reads = caseOf(async (host) => {
      await host.startWithPair()
      const memory = host.alloc(512)
      status(await host.command(1, transfer(0x02, 0, 2, [memory.iova(), 0])), '0/00')
    })
    expect(await messageOf(reads)).toContain("outside of the host's buffers: at byte 512 of one of 512 bytes")
  })

  it('opens, closes and frees for the facts and for the case, whatever comes of it', async () => {
    let [opened, closed, held] = [0, 0, 0]
    const counted = open({}, (transport) => {
      opened++
      return {
        ...transport,
        clock: transport.clock,
        bar: transport.bar,
        dma: {
          alloc(lengthBytes, request) {
            const memory = transport.dma.alloc(lengthBytes, request)
            held++
            return new Proxy(memory, {
              get(target, key) {
                if (key === 'free') held--
                const value: unknown = Reflect.get(target, key)
                return typeof value === 'function' ? (value.bind(target) as unknown) : value
              },
            })
          },
        },
        close() {
          closed++
          return transport.close()
        },
      }
    })
    const fails = caseOf(async (host) => {
      await host.startWithPair()
      throw new Error('by itself')
    })
    expect(await messageOf(fails, counted)).toContain('by itself')
    expect({ opened, closed, held }).toEqual({ opened: 2, closed: 2, held: 0 })
  })

  it.each([
    ['never becomes ready', (offset: number, value: number) => (offset === 0x1c ? 0 : value), 'got CSTS 0h'],
    ['reads as all ones', () => 0xffff_ffff, 'got CSTS ffffffffh'],
  ])('ends on a controller that %s', async (_, read, said) => {
    const gone = open({}, (transport) =>
      withBar(transport, (bar) => ({ read32: (offset) => read(offset, bar.read32(offset)) })),
    )
    expect(
      await messageOf(
        controllerCases.find(({ id }) => id === 'enable-sets-ready')!,
        gone,
      ),
    ).toContain(said)
  })

  it('ends on a controller that loses doorbells', async () => {
    const deaf = open({}, (transport) =>
      withBar(transport, (bar) => ({
        write32: (offset, value) => {
          if (offset !== 0x1008) bar.write32(offset, value)
        },
      })),
    )
    const asks = caseOf(async (host) => {
      await host.startWithPair()
      await host.command(1, { opcode: 0x00, nsid: 1 })
    })
    expect(await messageOf(asks, deaf)).toContain('CQ 1: expected 1 completions within 10 s, got 0; CSTS is 1h')
  })

  it('fails it where what it waits for is there only when the whole time limit has passed', async () => {
    const sleepy = open({}, (transport) => ({
      ...withBar(transport, () => ({})),
      clock: {
        now: () => transport.clock.now(),
        async idle(untilNs) {
          while (transport.clock.now() < untilNs) await transport.clock.idle(untilNs)
        },
      },
    }))
    const starts = caseOf((host) => host.start())
    expect(await messageOf(starts, sleepy)).toContain('did not return for it: the wait took the whole 10 s')
  })
})

describe('every wait of a controller case ends', () => {
  const never = () => new Promise<never>(() => undefined)
  const starts = caseOf((host) => host.start())

  /** A transport without one promise that resolves of what `change` replaces. */
  const stuck = (change: (transport: Transport) => Partial<Transport>) =>
    open({}, (transport) => ({ ...withBar(transport, () => ({})), ...change(transport) }))

  it('on a clock that stands still', async () => {
    const frozen = stuck(() => ({ clock: { now: () => 0, idle: async () => {} } }))
    expect(await messageOf(starts, frozen)).toMatch(
      /\nclock.idle\(\d+\) returned 100000 times and clock.now\(\) stayed at 0$/,
    )
  })

  it.each<[string, () => Promise<Transport>]>([
    ['open()', never],
    ['close()', stuck(() => ({ close: never }))],
    ['the case', stuck(({ clock }) => ({ clock: { now: () => clock.now(), idle: never } }))],
    // It moves, and never lets a timer have its turn.
    ['the case', stuck(() => ({ clock: creeping() }))],
  ])('where %s does not: wallLimitMs', async (what, opens) => {
    const result = await runControllerCase(starts, opens, { wallLimitMs: 100 })
    expect(result.outcome === 'failed' && result.error.message).toBe(
      `tried: Something is so (Base 2.3 §0)\n${what} did not end within 0.1 s of wall time`,
    )
  })

  it('and leaves no timer behind when it has ended well', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    expect(await messageOf(starts)).toBe('passed')
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before)
  })

  /** A clock on which every wait passes a nanosecond. */
  function creeping() {
    let nowNs = 0
    return {
      now: () => nowNs,
      idle: () => {
        nowNs++
        return Promise.resolve()
      },
    }
  }
})

it('a completion that comes twice is told from one that was not asked for', async () => {
  const faults = { rules: [{ match: { qid: 1 }, action: { kind: 'duplicate-completion' } }] } as const
  const flushes = caseOf(async (host) => {
    await host.startWithPair()
    await host.command(1, { opcode: 0x00, nsid: 1, cid: 6 })
  })
  expect(await messageOf(flushes, open({ faults }))).toContain('expected one completion, of SQ 1 CID 6, got 2 of it')
  const corrupt = { rules: [{ match: { qid: 1 }, action: { kind: 'corrupt-cid', xor: 1 } }] } as const
  const message = await messageOf(flushes, open({ faults: corrupt }))
  expect(message).toContain('expected one completion, of SQ 1 CID 6, got one of SQ 1 CID 7')
})

describe('the cases catch a controller that', () => {
  it.each<[FaultAction['kind'], FaultAction, string]>([
    ['drop-completion', { kind: 'drop-completion' }, 'io-queues-equal'],
    ['duplicate-completion', { kind: 'duplicate-completion' }, 'io-queues-equal'],
    ['corrupt-cid', { kind: 'corrupt-cid', xor: 0x40 }, 'many-sqs-on-one-cq'],
    ['status', { kind: 'status', sct: 0, sc: 6 }, 'one-doorbell-a-command'],
    ['corrupt-data', { kind: 'corrupt-data', byte: 3, xor: 1 }, 'reset-keeps-completed-writes'],
    ['fatal-status', { kind: 'fatal-status' }, 'phase-tag-inverts-each-lap'],
    ['remove-device', { kind: 'remove-device' }, 'many-sqs-on-one-cq'],
  ])('does %s', async (_, action, id) => {
    const faulty = open({ faults: { rules: [{ match: { qid: 1, nth: 2 }, action }] } })
    expect(
      await messageOf(
        controllerCases.find((each) => each.id === id)!,
        faulty,
      ),
    ).toContain(id)
  })
})
