import { simulate } from '@gpunvme/nvme-sim'
import { equal } from '@gpunvme/nvme-sim/case-kit'
import { controllerCases } from '@gpunvme/nvme-sim/conformance'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, it } from 'vitest'
import { simulatedDevices } from './simulated.js'
import { HostEngine } from '../src/engine/host-engine.js'
import type { ControllerOptions } from '../src/index.js'
import {
  describeTransport,
  driverCases,
  hostDriver,
  notApplicable,
  runDriverCase,
  shortfall,
  type DeviceShape,
  type DriverCase,
  type DriverUnderTest,
  type OpenTransport,
} from './index.js'

const open = simulatedDevices()

function caseOf(run: DriverCase['run'], more: Partial<DriverCase> = {}): DriverCase {
  return { id: 'tried', title: 'Meets a requirement', spec: 'ours', time: 'any', run, ...more }
}

async function messageOf(each: DriverCase, opens: OpenTransport = open, wallLimitMs?: number): Promise<string> {
  const result = await runDriverCase(each, opens, { time: 'virtual', ...(wallLimitMs && { wallLimitMs }) })
  return result.outcome === 'failed' ? result.error.message : JSON.stringify(result)
}

describe('runDriverCase', () => {
  it('passes a case whose checks hold', async () => {
    const message = await messageOf(
      caseOf(async (context) => {
        await (await context.open()).ns.flush()
      }),
    )
    expect(message).toBe('{"outcome":"passed"}')
  })

  it('fails a case that throws, and names its requirement', async () => {
    const message = await messageOf(
      caseOf(async (context) => {
        await context.open()
        throw new TypeError('broken')
      }),
    )
    expect(message).toBe('tried: Meets a requirement (ours)\nTypeError: broken')
  })

  it('fails a case that keeps memory, or for which the device reports a host mistake', async () => {
    const keeps = caseOf(async (context) => {
      const { ctrl, ns } = await context.open()
      ns.dma.alloc(4096)
      await ctrl.close()
    })
    expect(await messageOf(keeps)).toContain('all memory freed, got 4096 bytes left')
    const rings = caseOf(async (context) => {
      const { device } = await context.open()
      device.transport.bar.write32(0x1000 + 8 * 40, 1)
    })
    expect(await messageOf(rings)).toContain('the device reports host mistakes:\nhost rang SQ 40')
    expect(await messageOf({ ...rings, provokesMistakes: true })).toBe('{"outcome":"passed"}')
  })

  it('opens controllers with the engine of the options, created on the original transport', async () => {
    const given: Transport[] = []
    const made: { transport: Transport; engine: HostEngine }[] = []
    const seen: OpenTransport = async (request) => {
      const opened = await open(request)
      if (typeof opened !== 'string') given.push(opened.transport)
      return opened
    }
    const engine = (transport: Transport) => {
      made.push({ transport, engine: new HostEngine(transport) })
      return made.at(-1)!.engine
    }
    const reads = caseOf(async (context) => {
      const { device, ns, lba, alloc } = await context.open()
      await ns.read(lba, 1, alloc(ns.blockBytes))
      expect(device.observesPlans).toBe(false)
      expect(device.countOf('Read')).toBe(0)
      const second = await context.device()
      await context.open({ engine: new HostEngine(second.transport) }, undefined, second)
      await context.openReadOnly(await context.device())
    })
    const result = await runDriverCase(reads, seen, { time: 'virtual', engine })
    expect(result).toEqual({ outcome: 'passed' })
    expect(made.map(({ transport }) => given.indexOf(transport))).toEqual([0, 2])
    expect(made.map((each) => each.engine.statistics.commands)).toEqual([1, 0])
  })

  it("skips a case that needs the driver's own engine if another is given", async () => {
    const about = caseOf(() => Promise.resolve(), { ownEngine: 'it observes doorbells' })
    const engine = (transport: Transport) => new HostEngine(transport)
    expect(await runDriverCase(about, open)).toEqual({ outcome: 'passed' })
    expect(await runDriverCase(about, open, { engine })).toEqual({
      outcome: 'skipped',
      reason: 'it observes doorbells',
    })
    expect(driverCases.filter(({ ownEngine }) => ownEngine !== undefined).map(({ id }) => id)).toEqual([
      'queues-take-turns',
      'identifiers-unique',
      'doorbells-add-up',
      'one-doorbell-for-many',
      'sq-doorbell-late',
      'cq-doorbell-late',
      'cq-doorbell-lost',
      'sq-doorbell-lost',
      'doorbells-all-lost',
      'recover-fatal-at-a-doorbell',
      'recover-function-reset-under-load',
      'idle-removal',
    ])
  })

  it('skips a case that opens queues which the engine does not support', async () => {
    const opens = (given: ControllerOptions, rings?: 'powers of two') => {
      const each = caseOf(async (context) => {
        await context.open(given)
        await context.openReadOnly(await context.device(), given)
      })
      const engine = (transport: Transport) => new HostEngine(transport)
      return runDriverCase(each, open, { time: 'virtual', engine, ...(rings && { rings }) })
    }
    const [shared, odd] = [{ queues: 4, completionQueues: 2 }, { queueEntries: 33 }]
    expect(await opens(shared, 'powers of two')).toEqual({
      outcome: 'skipped',
      reason: 'the engine needs a completion queue for each submission queue',
    })
    expect(await opens(odd, 'powers of two')).toEqual({
      outcome: 'skipped',
      reason: 'the engine needs queues with a power of two of entries; the case uses 33',
    })
    for (const given of [{}, { queues: 4, completionQueues: 4, queueEntries: 64, queueDepth: 5 }]) {
      expect(await opens(given, 'powers of two')).toEqual({ outcome: 'passed' })
    }
    for (const given of [shared, odd]) expect(await opens(given)).toEqual({ outcome: 'passed' })
  })

  it('opens controllers with the driver of the options, and skips cases that need members which it lacks', async () => {
    const opened: unknown[] = []
    const driver: DriverUnderTest = {
      async open(transport, options = {}) {
        if (options.queues === 2) notApplicable('it has one queue pair')
        opened.push(options.write)
        const ctrl = await hostDriver.open(transport, options)
        const namespaces = ctrl.namespaces.map((ns) => {
          const { nsid, blocks, blockBytes, dma } = ns
          return { nsid, blocks, blockBytes, dma, read: ns.read.bind(ns), write: ns.write.bind(ns) }
        })
        return { namespaces, close: () => ctrl.close() }
      },
    }
    const runs = (run: DriverCase['run']) => runDriverCase(caseOf(run), open, { time: 'virtual', driver })
    const skipped = (reason: string) => ({ outcome: 'skipped', reason })
    expect(await runs((context) => context.open({ queues: 2 }).then(() => undefined))).toEqual(
      skipped('it has one queue pair'),
    )
    const flushes = runs(async (context) => (await context.open()).ns.flush())
    expect(await flushes).toEqual(skipped('namespaces of this driver have no flush'))
    const counts = runs(async (context) => equal('retries', (await context.open()).ctrl.statistics.retries, 0))
    expect(await counts).toEqual(skipped('controllers of this driver have no statistics'))
    expect(opened).toEqual([{ serial: 'CONFORMANCE1' }, { serial: 'CONFORMANCE1' }])
  })

  it('passes this driver behind the interface for other drivers', async () => {
    for (const id of ['first-block', 'identity', 'dispose', 'nsids-with-gaps', 'recover-hang', 'aborted-during']) {
      const each = driverCases.find((found) => found.id === id)!
      expect(await runDriverCase(each, open, { time: 'virtual', driver: hostDriver })).toEqual({ outcome: 'passed' })
    }
  })

  it('fails a case that does not end', async () => {
    const waits = caseOf(() => new Promise(() => undefined))
    expect(await messageOf(waits, open, 100)).toContain('the case did not end within 0.1 s of wall time')
  })

  it('closes every transport once, also if the case fails', async () => {
    let [opened, closed] = [0, 0]
    const counted: OpenTransport = () => {
      opened++
      const { transport } = simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }] })
      const close = () => {
        closed++
        return transport.close()
      }
      return Promise.resolve({ transport: { ...transport, close }, serial: 'GPUNVME-SIM-1' })
    }
    const fails = caseOf(async (context) => {
      await context.open()
      await context.device()
      throw new Error('broken')
    })
    expect(await messageOf(fails, counted)).toContain('broken')
    expect([opened, closed]).toEqual([2, 2])
  })

  it('skips a case if the opener returns a reason, or if the case needs virtual time', async () => {
    const never = caseOf((context) => context.device().then(() => undefined))
    expect(await messageOf(never, () => Promise.resolve('it rains'))).toBe('{"outcome":"skipped","reason":"it rains"}')
    const result = await runDriverCase(caseOf(never.run, { time: 'virtual' }), open)
    expect(result).toMatchObject({ outcome: 'skipped' })
  })
})

describe('describeTransport', () => {
  /** Runs the defined tests whose names begin with `ids`; returns their results. */
  async function outcomes(lists: object, ids: readonly string[]): Promise<string[]> {
    const tests: { name: string; body: (context: { skip: (reason?: string) => void }) => Promise<void> }[] = []
    describeTransport('it', open, {
      describe: (_, body) => body(),
      test: (name, body) => tests.push({ name, body }),
      time: 'virtual',
      ...lists,
    })
    const results: string[] = []
    for (const { name, body } of tests.filter((each) => ids.some((id) => each.name.startsWith(id)))) {
      let skipped: string | undefined
      const skip = (reason?: string) => (skipped = reason)
      results.push(
        await body({ skip }).then(
          () => skipped ?? `passed ${name.split(':')[0]}`,
          (error: unknown) => (error as Error).message,
        ),
      )
    }
    return results
  }

  it('skips listed cases with their reason', async () => {
    expect(await outcomes({ skip: [{ reason: 'it rains', cases: ['identity'] }] }, ['identity:'])).toEqual(['it rains'])
  })

  it('fails for a known difference that no longer exists, and for a list with unknown cases', async () => {
    const known = [{ reason: 'it once did', cases: ['identity', 'nothing'] }]
    const [lists, stale] = await outcomes({ known }, ['the lists', 'identity:'])
    expect(lists).toContain('nothing')
    expect(stale).toContain('identity passes, but is listed as known to fail: "it once did"')
  })
})

describe('driver cases', () => {
  it('have ids and titles that differ from each other and from those of controller cases', () => {
    const ids = driverCases.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(controllerCases.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual([])
    const titles = new Set(controllerCases.map(({ title }) => title))
    expect(driverCases.filter(({ title }) => titles.has(title))).toEqual([])
  })

  it('detect reads that return a wrong byte', async () => {
    const wrong: OpenTransport = async (request) => {
      const opened = await open({
        ...request,
        faults: { rules: [{ match: { opcode: 2, every: 5 }, action: { kind: 'corrupt-data', byte: 0, xor: 1 } }] },
      })
      return opened
    }
    const seen = async (id: string) =>
      messageOf(
        driverCases.find((each) => each.id === id)!,
        wrong,
      )
    expect(await seen('plans-at-once')).toContain('expected 0x')
    expect(await seen('several-sqs-on-one-cq')).toContain('expected 0x')
    expect(await seen('random-blocks')).toContain('expected 0x')
  })
})

describe('shortfall', () => {
  const shape: DeviceShape = {
    dstrd: 0,
    maxQueueEntries: 2048,
    mdts: 7,
    ioQueuePairs: 64,
    namespaces: [{ nsid: 1, blockBytes: 512, metadataBytes: 0, minBytes: 64 * 1024 * 1024 }],
  }

  it('returns undefined for a device that meets a request, and otherwise the difference', () => {
    expect(shortfall(shape, {})).toBeUndefined()
    expect(shortfall(shape, { dstrd: 0, namespaces: [{ blockBytes: 512 }] })).toBeUndefined()
    expect(shortfall(shape, { dstrd: 2 })).toBe('dstrd is 0, needed: 2')
    expect(shortfall(shape, { faults: { rules: [] } })).toBe('faults inside the controller need a simulated controller')
    expect(shortfall(shape, { namespaces: [{ nsid: 7 }] })).toBe(
      'its namespaces are NSID 1 of 64 MiB in 512-byte blocks, needed: NSID 7 of 16 MiB in any-byte blocks',
    )
  })
})
