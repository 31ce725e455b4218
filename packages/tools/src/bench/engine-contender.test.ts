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

const makeHostEngine: EngineContenderOptions['makeEngine'] = (transport, { onCompleted }) =>
  new HostEngine(transport, { onCompleted })

function contender({ profile = 'sn740', makeEngine = makeHostEngine, link, setting = {} }: Bench) {
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

/** Base of faulty engines that wrap the host engine. */
class Faulty implements Engine {
  readonly name = 'faulty'
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

/** Executes nothing, and reports success after a delay. */
class Idle extends Faulty {
  override async execute(plan: Plan): Promise<OutcomeSummary> {
    const { clock } = this.engine.transport
    const startNs = clock.now()
    while (clock.now() < startNs + 100_000) await clock.idle(startNs + 100_000)
    const bytes = plan.blocks.reduce((sum, blocks) => sum + blocks * plan.blockBytes, 0)
    return { commands: plan.commands, succeeded: plan.commands, bytes, failures: [], startNs, endNs: clock.now() }
  }
}

/** Executes each plan twice. */
class Twice extends Faulty {
  override async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    await this.engine.execute(plan, memory, options)
    return this.engine.execute(plan, memory, options)
  }
}

/** Flips a bit in each command. */
class Corrupting extends Faulty {
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

/** Writes the data of its first plan again and again. */
class Stale extends Faulty {
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

/** Places the data of all commands at offset 0. */
class Misplacing extends Faulty {
  override execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    return this.engine.execute({ ...plan, offsetBytes: plan.offsetBytes.map(() => 0) }, memory, options)
  }
}

/** Reports a tenth of the elapsed time. */
class Hurried extends Faulty {
  override async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const summary = await this.engine.execute(plan, memory, options)
    return { ...summary, endNs: summary.startNs + (summary.endNs - summary.startNs) / 10 }
  }
}

const makeFaulty =
  (Engine: new (...options: Parameters<EngineContenderOptions['makeEngine']>) => Engine) =>
  (...options: Parameters<EngineContenderOptions['makeEngine']>) =>
    new Engine(...options)

describe('a correct engine', () => {
  test('reads without problems, and its counters agree', async () => {
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

  test('writes sequentially and at random, and the drive has the written data', async () => {
    const bench = contender({})
    for (const pattern of ['sequential', 'random'] as const) {
      const { repeat } = await bench.measure(shape({ rw: 'write', pattern, blockBytes: 4 * KIB }), false)
      expect(repeat.problem).toBeUndefined()
      expect(repeat.commands).toBeGreaterThan(1000)
    }
  })

  test('a correct engine has reproducible results for a seed on the clock of the simulator', async () => {
    const [first, second] = await Promise.all([
      contender({}).measure(shape(), false),
      contender({}).measure(shape(), false),
    ])
    expect(first).toEqual(second)
  })

  test('returns a timeline of commands with the requested depth', async () => {
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

describe('EngineContender detects', () => {
  test.each([
    ['an engine that executes nothing', Idle, /^SMART counts 0 Read commands, but \d+ were sent/],
    ['an engine that executes everything twice', Twice, /^SMART counts \d+ Read commands/],
    ['an engine that flips a bit', Corrupting, /a second read by the host returned other data/],
    ['an engine that places data at the wrong offset', Misplacing, /the read reported success, but no byte arrived/],
    ['an engine that reports a tenth of its time', Hurried, /exceeds the limit of Gen3 x4 at MPS 256/],
  ])('%s', async (_, Engine, expected) => {
    const bench = contender({ makeEngine: makeFaulty(Engine), link: { gen: 3, width: 4, mps: 256 } })
    const { repeat } = await bench.measure(shape(), false)
    expect(repeat.problem).toMatch(expected)
  })

  test.each([
    ['changed data', Corrupting],
    ['the data of an earlier plan', Stale],
  ])('an engine that writes %s', async (_, Engine) => {
    const bench = contender({ makeEngine: makeFaulty(Engine) })
    const { repeat } = await bench.measure(shape({ rw: 'write' }), false)
    expect(repeat.problem).toMatch(/differ from the written data$/)
  })

  test('a rate above the limit of the link', async () => {
    const { repeat } = await contender({ link: { gen: 1, width: 1, mps: 128 } }).measure(shape(), false)
    expect(repeat.problem).toMatch(/ exceeds the limit of Gen1 x1 at MPS 128 \(216 MB\/s\): the time is wrong$/)
  })

  test('a drive that throttles during a repeat', async () => {
    const thermal = { factor: 3, limitBytes: 110 * MIB, recoveredBytes: 1 * MIB, coolingBytesPerSecond: 1e6 }
    const bench = contender({ profile: deriveProfile('sn740', { thermal }), setting: { seconds: 0.08 } })
    const { repeat, pace } = await bench.measure(shape({ blockBytes: 64 * KIB }), false)
    expect(repeat.problem).toBeUndefined()
    expect(pace).toBeLessThan(0.7)
    expect(paceNotes([1, pace!])).toEqual([expect.stringContaining('1 of 2 repeats were slower in their second half')])
    expect(repeat.temperatureCelsius!.after).toBeGreaterThan(repeat.temperatureCelsius!.before)
  })
})

describe('EngineContender rejects', () => {
  test.each<[string, Partial<Shape>, RegExp]>([
    ['a transfer beyond MDTS', { blockBytes: 2 * MIB }, /limited to 1 MiB \(MDTS\)\n {2}Try: use --bs 1MiB$/],
    ['more commands than a queue holds', { depth: 4095 }, /limited to \d+ commands/],
    ['more jobs than queue pairs', { jobs: 60_000, depth: 1, blockBytes: 512 }, /has \d+ I\/O queue pairs/],
    [
      'a span without room for the commands of all jobs',
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
