// Cost of the host engine: plans executed with a controller that completes commands at once and moves no data.
// Alone: node --expose-gc packages/host-driver/bench/engine.mjs
import { pathToFileURL } from 'node:url'
import { Controller, HostEngine } from '@gpunvme/host-driver'
import { simulate } from '@gpunvme/nvme-sim'
import { nullController, readPlan, target } from './lib/null-controller.mjs'

const MIB = 1024 * 1024
const ROUNDS = 7
/**
 * Plans per round, and commands per plan. The engine copies each plan: with 200,000 commands, the page faults of a new
 * 4.4 MB doubled the time per command (0.345 instead of 0.155 µs).
 */
const [PLANS, COMMANDS] = [10, 20_000]
/** Maximum rate of Gen3 x4 drives, in bytes per second. */
const STREAM = 3.5e9

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** Returns a function that executes a plan of `count` reads with a new engine. */
function executing({ lengthBytes, depth, sgl }) {
  const { transport, queue } = nullController({ depth, transferBytes: lengthBytes, sgl })
  const engine = new HostEngine(transport)
  engine.attach([queue])
  const memory = target(depth * lengthBytes)
  let plan = readPlan({ commands: 0, lengthBytes, slots: depth })
  return async (count) => {
    if (plan.commands !== count) plan = readPlan({ commands: count, lengthBytes, slots: depth })
    const { succeeded } = await engine.execute(plan, memory)
    if (succeeded !== count) throw new Error(`${count} commands, ${succeeded} succeeded`)
  }
}

/** Returns a function that executes `count` plans of one read each, one after another. */
function plansOfOne() {
  const { transport, queue } = nullController({ depth: 32, transferBytes: 4096 })
  const engine = new HostEngine(transport)
  engine.attach([queue])
  const memory = target(4096)
  const plan = readPlan({ commands: 1, lengthBytes: 4096, slots: 1 })
  return async (count) => {
    for (let i = 0; i < count; i++) await engine.execute(plan, memory)
  }
}

/** Returns a function that calls `Namespace.read` `count` times, one after another, on the same null controller. */
function namespaceReads() {
  const { transport, queue } = nullController({ depth: 32, transferBytes: 4096 })
  const inner = new HostEngine(transport)
  inner.attach([queue])
  // A simulated controller answers the Admin commands of `open`; reads go to the null controller.
  const engine = {
    name: 'null',
    attach() {},
    execute: (plan, memory, options) => inner.execute(plan, memory, options),
    detach() {},
  }
  const memory = target(4096)
  const opened = Controller.open(simulate().transport, { engine })
  return async (count) => {
    const namespace = (await opened).namespace(1)
    for (let i = 0; i < count; i++) await namespace.read(i % 1024, 8, memory)
  }
}

/** Functions whose instructions `npm run bench -- --against` counts. */
export const works = {
  readsOf4KiB: executing({ lengthBytes: 4096, depth: 32 }),
  plansOfOne: plansOfOne(),
  namespaceReads: namespaceReads(),
}

/** Returns the nanoseconds of one command: the median of rounds, each `PLANS` calls of `engine.execute`. */
async function costOf(load) {
  const execute = executing(load)
  const round = async () => {
    for (let plan = 0; plan < PLANS; plan++) await execute(COMMANDS)
  }
  await round()
  const rounds = []
  while (rounds.length < ROUNDS) {
    const before = process.hrtime.bigint()
    await round()
    rounds.push(Number(process.hrtime.bigint() - before) / (PLANS * COMMANDS))
  }
  return median(rounds)
}

/** Returns the bytes of garbage per command, over a million commands in one call. */
async function garbageOf({ commands, ...load }) {
  const execute = executing(load)
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc()
    const before = process.memoryUsage().heapUsed
    await execute(commands)
    rounds.push(Math.max(0, process.memoryUsage().heapUsed - before) / commands)
  }
  // The median, since the first rounds run code that is not optimized yet, which boxes numbers.
  return median(rounds)
}

export async function bench() {
  const one = await costOf({ lengthBytes: 4096, depth: 1 })
  const many = await costOf({ lengthBytes: 4096, depth: 32 })
  const large = await costOf({ lengthBytes: MIB, depth: 32 })
  const bySgl = await costOf({ lengthBytes: MIB, depth: 32, sgl: 'dword' })
  const garbage = await garbageOf({ lengthBytes: 4096, commands: 1_000_000, depth: 32 })
  const share = (large * STREAM) / MIB / 1e9
  return [
    {
      name: 'Host engine: one 4 KiB read at QD 32, without the controller’s time',
      value: many / 1000,
      unit: 'µs',
      goal: '≤ 1 µs',
      met: many <= 1000,
      note: `QD 1: ${(one / 1000).toFixed(2)} µs; plans of ${COMMANDS} commands; the controller answers within the doorbell write`,
    },
    {
      name: 'Host engine: garbage, over a million commands',
      value: garbage,
      unit: 'bytes per command',
      goal: '< 1',
      met: garbage < 1,
    },
    {
      name: 'Modelled: CPU time of 1 MiB reads at 3.5 GB/s',
      value: share * 100,
      unit: '% of one core',
      goal: '< 3 %',
      met: share < 0.03,
      note: `${(large / 1000).toFixed(2)} µs per command, including its PRP list of 255 entries; ${((large * 1024) / 1e6).toFixed(2)} ms of CPU time per GiB`,
    },
    {
      name: 'Host engine: one 1 MiB read into contiguous memory, with one SGL descriptor',
      value: bySgl / 1000,
      unit: 'µs',
      note: `${(large / bySgl).toFixed(1)} × as fast as with a PRP list`,
    },
  ]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await bench())
