import { expect, it } from 'vitest'
import {
  hostDriver,
  makeScenario,
  runScenario,
  type DriverController,
  type DriverNamespace,
  type DriverUnderTest,
} from '../../dst/index.js'

// A campaign that cannot fail proves nothing. Each of these drivers is this package's driver with one defect in a call
// other than reads and writes, which the campaign must find within this number of seeds.
const SEEDS = 250

type Altered<T> = (original: T) => Partial<T>

/** This package's driver with some members of its namespaces, and of its controller, replaced. */
function altered(ofNamespace: Altered<DriverNamespace>, ofController: Altered<DriverController> = () => ({})) {
  return {
    async open(transport, options) {
      const ctrl: DriverController = await hostDriver.open(transport, options)
      return replaced(ctrl, {
        ...ofController(ctrl),
        get namespaces() {
          return ctrl.namespaces.map((ns) => replaced(ns, ofNamespace(ns)))
        },
      })
    },
  } satisfies DriverUnderTest
}

function replaced<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get(_, key) {
      if (key in own) return own[key as keyof T]
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

async function expectFound(driver: DriverUnderTest, message: RegExp) {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { failure } = await runScenario(makeScenario(seed), driver)
    if (failure === undefined) continue
    expect(failure.message).toMatch(message)
    return
  }
  throw new Error(`no seed up to ${SEEDS} fails`)
}

const done = () => Promise.resolve()
const WRONG = /^(data|medium):/

it('finds a driver that leaves out the last source of a copy', async () => {
  const driver = altered((ns) => ({
    copy: (sources, to, options) => (sources.length > 1 ? ns.copy!(sources.slice(0, -1), to, options) : done()),
  }))
  await expectFound(driver, WRONG)
})

it('finds a driver that copies to the wrong blocks', async () => {
  const driver = altered((ns) => ({
    copy: (sources, to, options) => ns.copy!(sources, Math.max(0, to - 1), options),
  }))
  await expectFound(driver, /^(data|medium|outcome):/)
})

it('finds a driver that zeroes one block too few', async () => {
  const driver = altered((ns) => ({
    writeZeroes: (slba, blocks, options) => (blocks > 1 ? ns.writeZeroes!(slba, blocks - 1, options) : done()),
  }))
  await expectFound(driver, WRONG)
})

it('finds a driver that deallocates the first range only', async () => {
  const driver = altered((ns) => ({ deallocate: (ranges, options) => ns.deallocate!(ranges.slice(0, 1), options) }))
  await expectFound(driver, WRONG)
})

it('finds a driver that compares only the first block', async () => {
  const driver = altered((ns) => ({ compare: (slba, _, memory, options) => ns.compare!(slba, 1, memory, options) }))
  await expectFound(driver, WRONG)
})

it('finds a driver whose verify fails for no reason', async () => {
  const driver = altered((ns) => ({ verify: (slba, blocks, options) => ns.verify!(slba + ns.blocks, blocks, options) }))
  await expectFound(driver, /^outcome: verify .* no fault occurred/)
})

it('finds a driver whose flush sends nothing, by a loss of power', async () => {
  await expectFound(
    altered(() => ({ flush: done })),
    WRONG,
  )
})

it('finds a driver that describes a piece of scattered memory one dword too late', async () => {
  const driver = altered((ns) => ({
    execute(plan, memory, options) {
      const segments = memory.segments.map((each, index) =>
        index === 2 && each.lengthBytes % 4096 !== 0 ? { ...each, iova: each.iova + 4 } : each,
      )
      return ns.execute!(plan, { ...memory, ...hostViewOf(memory), segments }, options)
    },
  }))
  await expectFound(driver, /^(data|medium|memory):/)
})

it('finds a driver that uses a namespace with metadata', async () => {
  const driver = altered((ns) =>
    ns.identity?.unsupported === undefined || !ns.identity.attached ? {} : { read: done, write: done },
  )
  await expectFound(driver, /was not rejected/)
})

it('finds a driver that formats nothing', async () => {
  const driver = altered(
    () => ({}),
    ({ management }) => (management ? { management: replaced(management, { format: done }) } : {}),
  )
  await expectFound(driver, /^outcome: format of NSID \d: reported success, but the media were not erased/)
})

it('finds a driver that detaches nothing', async () => {
  const driver = altered(
    () => ({}),
    ({ management }) => (management ? { management: replaced(management, { detach: done }) } : {}),
  )
  await expectFound(driver, /^outcome: NSID \d+ is still listed after its change/)
})

it('finds a driver whose reset never ends', async () => {
  const driver = altered(
    () => ({}),
    () => ({ reset: () => new Promise<void>(() => undefined) }),
  )
  await expectFound(driver, /^deadlock:/)
})

it('finds no defect in the driver behind this wrapper', async () => {
  const driver = altered(() => ({}))
  for (let seed = 1; seed <= 20; seed++) {
    expect((await runScenario(makeScenario(seed), driver)).failure?.message).toBeUndefined()
  }
})

/** Returns memory with its view: `{ ...memory }` omits an inherited getter. */
function hostViewOf(memory: Parameters<NonNullable<DriverNamespace['execute']>>[1]) {
  return {
    lengthBytes: memory.lengthBytes,
    ...(memory.view && { view: memory.view }),
    iovaAt: memory.iovaAt.bind(memory),
    forDevice: memory.forDevice.bind(memory),
    forHost: memory.forHost.bind(memory),
    free: memory.free.bind(memory),
  }
}
