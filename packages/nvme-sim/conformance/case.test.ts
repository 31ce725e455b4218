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
  return { id: 'tried', title: 'Meets a requirement', spec: 'Base 2.3 §0', run, ...(needs && { needs }) }
}

/** Returns a transport with some register accesses replaced. */
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

describe('runControllerCase', () => {
  it('passes a case whose checks hold', async () => {
    const result = await runControllerCase(
      caseOf(async (host) => {
        await host.startWithPair()
        check(host.facts.blockBytes === 512, 'blocks have 512 bytes')
      }),
      open(),
    )
    expect(result).toEqual({ outcome: 'passed' })
  })

  it('skips a case with the reason from `needs` or notApplicable', async () => {
    const never = () => Promise.reject(new Error('the case ran'))
    expect(
      await runControllerCase(
        caseOf(never, ({ nn }) => `NN is ${nn}`),
        open(),
      ),
    ).toEqual({
      outcome: 'skipped',
      reason: 'NN is 1',
    })
    const applies = caseOf(() => notApplicable('not supported'))
    expect(await runControllerCase(applies, open())).toEqual({ outcome: 'skipped', reason: 'not supported' })
  })

  it('reports the command or value, the expected and the actual result', async () => {
    const asks = caseOf(async (host) => {
      await host.start()
      success(await host.admin({ opcode: 0x06, nsid: 3, cdw: { 10: 0xff } }))
    })
    expect(await messageOf(asks)).toBe(
      'tried: Meets a requirement (Base 2.3 §0)\n' +
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

  it('fails a case in which the controller writes outside of host buffers', async () => {
    const reads = caseOf(async (host) => {
      await host.startWithPair()
      const memory = host.alloc(512)
      status(await host.command(1, transfer(0x02, 0, 2, [memory.iova(), 0])), '0/00')
    })
    expect(await messageOf(reads)).toContain('outside of a host buffer: at byte 512 of a buffer of 512 bytes')
  })

  it('closes both transports and frees all memory, also if the case fails', async () => {
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
      throw new Error('broken')
    })
    expect(await messageOf(fails, counted)).toContain('broken')
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

  it('fails a case if Clock.idle does not return when the awaited condition begins to hold', async () => {
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

  /** Opens a transport with members replaced, whose promises never resolve. */
  const stuck = (change: (transport: Transport) => Partial<Transport>) =>
    open({}, (transport) => ({ ...withBar(transport, () => ({})), ...change(transport) }))

  it('on a clock that does not advance', async () => {
    const frozen = stuck(() => ({ clock: { now: () => 0, idle: async () => {} } }))
    expect(await messageOf(starts, frozen)).toMatch(
      /\nclock.idle\(\d+\) returned 100000 times and clock.now\(\) stayed at 0$/,
    )
  })

  it.each<[string, () => Promise<Transport>]>([
    ['open()', never],
    ['close()', stuck(() => ({ close: never }))],
    ['the case', stuck(({ clock }) => ({ clock: { now: () => clock.now(), idle: never } }))],
    // This clock advances, but starves timers.
    ['the case', stuck(() => ({ clock: creeping() }))],
  ])('at wallLimitMs if %s does not end', async (what, opens) => {
    const result = await runControllerCase(starts, opens, { wallLimitMs: 100 })
    expect(result.outcome === 'failed' && result.error.message).toBe(
      `tried: Meets a requirement (Base 2.3 §0)\n${what} did not end within 0.1 s of wall time`,
    )
  })

  it('without leaving a timer behind', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    expect(await messageOf(starts)).toBe('passed')
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before)
  })

  /** Returns a clock that advances by one nanosecond with every wait. */
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

it('distinguishes a duplicate completion from one of another command', async () => {
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

describe('the cases detect the fault', () => {
  it.each<[FaultAction['kind'], FaultAction, string]>([
    ['drop-completion', { kind: 'drop-completion' }, 'io-queues-equal'],
    ['duplicate-completion', { kind: 'duplicate-completion' }, 'io-queues-equal'],
    ['corrupt-cid', { kind: 'corrupt-cid', xor: 0x40 }, 'many-sqs-on-one-cq'],
    ['status', { kind: 'status', sct: 0, sc: 6 }, 'one-doorbell-a-command'],
    ['corrupt-data', { kind: 'corrupt-data', byte: 3, xor: 1 }, 'reset-keeps-completed-writes'],
    ['fatal-status', { kind: 'fatal-status' }, 'phase-tag-inverts-each-lap'],
    ['remove-device', { kind: 'remove-device' }, 'many-sqs-on-one-cq'],
  ])('%s', async (_, action, id) => {
    const faulty = open({ faults: { rules: [{ match: { qid: 1, nth: 2 }, action }] } })
    expect(
      await messageOf(
        controllerCases.find((each) => each.id === id)!,
        faulty,
      ),
    ).toContain(id)
  })
})
