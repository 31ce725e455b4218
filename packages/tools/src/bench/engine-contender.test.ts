import { HostEngine } from '@gpunvme/host-driver'
import { deriveProfile, simulate, type DriveProfile } from '@gpunvme/nvme-sim'
import type { DmaMemory, Engine, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { EngineContender, type EngineContenderOptions } from './engine-contender.js'
import { paceNotes } from './pace.js'
import type { Setting } from './setting.js'
import type { Shape } from './shape.js'

const KIB = 1024
const MIB = 1024 * KIB

interface Bench {
  readonly profile?: DriveProfile | 'sn740'
  readonly makeEngine?: EngineContenderOptions['makeEngine']
  readonly link?: EngineContenderOptions['opened']['link']
  readonly setting?: Partial<Setting>
}

const honestly: EngineContenderOptions['makeEngine'] = (transport, { onCompleted }) =>
  new HostEngine(transport, { onCompleted })

function contender({ profile = 'sn740', makeEngine = honestly, link, setting = {} }: Bench) {
  const { transport } = simulate({ profile, namespaces: [{ capacityBytes: 64 * MIB }] })
  const serial = 'GPUNVME-SIM-SN740'
  return new EngineContender({
    name: 'host',
    opened: { transport, time: 'modelled', link, serial },
    nsid: 1,
    write: { serial },
    makeEngine,
    setting: {
      ...{ seconds: 0.002, warmUpSeconds: 0.0005, coolDownSeconds: 0, repeats: 1, seed: 1, dataPattern: 'random' },
      span: { firstBlock: 0, blocks: (64 * MIB) / 512 },
      signal: new AbortController().signal,
      ...setting,
    },
  })
}

const shape = (changes: Partial<Shape> = {}): Shape => ({
  rw: 'read',
  pattern: 'sequential',
  blockBytes: 128 * KIB,
  depth: 8,
  jobs: 2,
  ...changes,
})

/** The host engine, and what it is made to say and to do beside. */
class Lying implements Engine {
  readonly name = 'lying'
  protected readonly engine: HostEngine
  constructor(...[transport]: Parameters<EngineContenderOptions['makeEngine']>) {
    this.engine = new HostEngine(transport)
  }

  get transport() {
    return this.engine.transport
  }

  attach(...queues: Parameters<Engine['attach']>): void {
    this.engine.attach(...queues)
  }

  detach(): void {
    this.engine.detach()
  }

  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    return this.engine.execute(plan, memory, options)
  }
}

/** Its kernel never runs, and it reports success after a while. */
class Idle extends Lying {
  override async execute(plan: Plan): Promise<OutcomeSummary> {
    const { clock } = this.engine.transport
    const startNs = clock.now()
    while (clock.now() < startNs + 100_000) await clock.idle(startNs + 100_000)
    const bytes = plan.blocks.reduce((sum, blocks) => sum + blocks * plan.blockBytes, 0)
    return { commands: plan.commands, succeeded: plan.commands, bytes, failures: [], startNs, endNs: clock.now() }
  }
}

/** It does all that it is asked, twice. */
class Twice extends Lying {
  override async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    await this.engine.execute(plan, memory, options)
    return this.engine.execute(plan, memory, options)
  }
}

/** A bit falls over on the way, in every block. */
class Corrupting extends Lying {
  override async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const flip = () => {
      for (const offset of plan.offsetBytes) memory.view!.setUint8(offset + 77, memory.view!.getUint8(offset + 77) ^ 4)
    }
    if (plan.operation === 'write') flip()
    const summary = await this.engine.execute(plan, memory, options)
    flip()
    return summary
  }
}

/** It writes what it was given first, again and again. */
class Stale extends Lying {
  private first: Uint8Array | undefined

  override async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    if (plan.operation === 'read') return this.engine.execute(plan, memory, options)
    const bytes = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, memory.lengthBytes)
    const given = bytes.slice()
    this.first ??= given
    bytes.set(this.first)
    const summary = await this.engine.execute(plan, memory, options)
    bytes.set(given)
    return summary
  }
}

/** Its commands move data, and all of them to the first place. */
class Misplacing extends Lying {
  override execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    return this.engine.execute({ ...plan, offsetBytes: plan.offsetBytes.map(() => 0) }, memory, options)
  }
}

/** The clock of the GPU that it goes by is ten times slower than it says. */
class Hurried extends Lying {
  override async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const summary = await this.engine.execute(plan, memory, options)
    return { ...summary, endNs: summary.startNs + (summary.endNs - summary.startNs) / 10 }
  }
}

const lying =
  (Engine: new (...options: Parameters<EngineContenderOptions['makeEngine']>) => Engine) =>
  (...options: Parameters<EngineContenderOptions['makeEngine']>) =>
    new Engine(...options)

describe('an honest engine', () => {
  test('reads, and everything agrees', async () => {
    const { repeat, remarks } = await contender({ link: { gen: 3, width: 4, mps: 256 } }).measure(shape(), false)
    expect(repeat.problem).toBeUndefined()
    expect(remarks).toEqual([])
    expect(repeat.bytes).toBe(repeat.commands * 128 * KIB)
    expect(repeat.seconds).toBeGreaterThanOrEqual(0.002)
    const { before, after } = repeat.counters!
    expect(BigInt(after.hostReadCommands) - BigInt(before.hostReadCommands)).toBe(BigInt(repeat.commands))
    expect(after.hostWriteCommands).toBe(before.hostWriteCommands)
    expect(repeat.temperatureCelsius?.before).toBe(35)
    expect(repeat.cpuSeconds).toBeUndefined()
    const samples = repeat.latency!.buckets.reduce((sum, [, count]) => sum + count, 0)
    expect(samples).toBe(repeat.commands)
  })

  test('writes, at random places too, and the drive holds what was written', async () => {
    const bench = contender({})
    for (const pattern of ['sequential', 'random'] as const) {
      const { repeat } = await bench.measure(shape({ rw: 'write', pattern, blockBytes: 4 * KIB }), false)
      expect(repeat.problem).toBeUndefined()
      expect(repeat.commands).toBeGreaterThan(1000)
    }
  })

  test('gives the same numbers again for the same seed: the time is the simulator its own', async () => {
    const [first, second] = await Promise.all([
      contender({}).measure(shape(), false),
      contender({}).measure(shape(), false),
    ])
    expect(first).toEqual(second)
  })

  test('tells of its commands one by one, in order, with as many at a time as were asked for', async () => {
    const { timeline = [] } = await contender({}).measure(shape({ blockBytes: 4 * KIB }), true)
    expect(timeline).toHaveLength(400)
    expect(timeline[0]!.startNs).toBe(0)
    expect(new Set(timeline.map(({ queue }) => queue))).toEqual(new Set([1, 2]))
    const { startNs } = timeline[200]!
    const together = timeline.filter((each) => each.startNs <= startNs && each.endNs > startNs)
    expect(together.length).toBeGreaterThan(8)
    expect(together.length).toBeLessThanOrEqual(16)
  })
})

describe('what was planted is found', () => {
  test.each([
    ['an engine whose kernel never runs', Idle, /^SMART counts 0 Read commands, but \d+ were sent/],
    ['an engine that does everything twice', Twice, /^SMART counts \d+ Read commands/],
    ['an engine that changes a bit', Corrupting, /a second read by the host returned other data/],
    ['an engine whose data land elsewhere', Misplacing, /the read reported success, but no byte arrived/],
    ['an engine that reports a tenth of its time', Hurried, /exceeds the limit of Gen3 x4 at MPS 256/],
  ])('%s', async (_, Engine, expected) => {
    const bench = contender({ makeEngine: lying(Engine), link: { gen: 3, width: 4, mps: 256 } })
    const { repeat } = await bench.measure(shape(), false)
    expect(repeat.problem).toMatch(expected)
  })

  test.each([
    ['something else', Corrupting],
    ['what was to be written before', Stale],
  ])('an engine that writes %s', async (_, Engine) => {
    const bench = contender({ makeEngine: lying(Engine) })
    const { repeat } = await bench.measure(shape({ rw: 'write' }), false)
    expect(repeat.problem).toMatch(/differ from the written data$/)
  })

  test('a rate that the link cannot carry', async () => {
    const { repeat } = await contender({ link: { gen: 1, width: 1, mps: 128 } }).measure(shape(), false)
    expect(repeat.problem).toMatch(/ exceeds the limit of Gen1 x1 at MPS 128 \(216 MB\/s\): the time is wrong$/)
  })

  test('a drive that gets too hot within a repeat', async () => {
    const thermal = { factor: 3, limitBytes: 110 * MIB, recoveredBytes: 1 * MIB, coolingBytesPerSecond: 1e6 }
    const bench = contender({ profile: deriveProfile('sn740', { thermal }), setting: { seconds: 0.08 } })
    const { repeat, pace } = await bench.measure(shape({ blockBytes: 64 * KIB }), false)
    expect(repeat.problem).toBeUndefined()
    expect(pace).toBeLessThan(0.7)
    expect(paceNotes([1, pace!])).toEqual([expect.stringContaining('1 of 2 repeats were slower in their second half')])
    expect(repeat.temperatureCelsius!.after).toBeGreaterThan(repeat.temperatureCelsius!.before)
  })
})

describe('what a drive has not is refused, not made smaller', () => {
  test.each<[string, Partial<Shape>, RegExp]>([
    ['a transfer beyond MDTS', { blockBytes: 2 * MIB }, /limited to 1 MiB \(MDTS\)/],
    ['more commands than a queue holds', { depth: 4095 }, /limited to \d+ commands/],
    ['more queues than there are', { jobs: 60_000, depth: 1, blockBytes: 512 }, /has \d+ I\/O queue pairs/],
    [
      'commands that do not fit into the span',
      { jobs: 8, blockBytes: 1 * MIB, depth: 1 },
      /smaller than one command per job/,
    ],
  ])('%s', async (_, changes, expected) => {
    const bench = contender({ setting: { span: { firstBlock: 0, blocks: (7 * MIB) / 512 } } })
    await expect(bench.measure(shape(changes), false)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_BENCH_REFUSED',
      message: expect.stringMatching(expected) as string,
    })
  })
})

test('an abort ends the repeat with its reason', async () => {
  const abort = new AbortController()
  const bench = contender({ setting: { seconds: 3600, signal: abort.signal } })
  const measuring = bench.measure(shape(), false)
  setTimeout(() => abort.abort(new Error('enough')), 50)
  await expect(measuring).rejects.toThrow('enough')
})
