// What the engine `cpu-kernel` costs: its device code by itself, against a device that does nothing but answer; and
// whole, through the driver, on the real-time simulator. Nothing where there is neither a compiler nor the addon.
// Alone: node packages/cuda-native/bench/engine.mjs
import { pathToFileURL } from 'node:url'
import { NativeAddonError } from '@gpunvme/cuda-native/host'
import { isInstalled, withProgram } from './lib/program.mjs'
import { startDrive } from './lib/realtime.mjs'

const KIB = 1024
const MIB = 1024 * KIB
const DEPTH = 32
const ROUNDS = 9
/** 4 KiB reads go over less than the media have, as in nvme-sim's bench. */
const SMALL_SPAN_BYTES = 64 * MIB

/** Loads, stores, loads of a poll that finds its completion, doorbells: see ../docs/command-cost.md. */
const ORIGINAL_TRANSACTIONS = 13 + 22 + 3 + 2

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const thousands = (perMs) => `${Math.round(perMs)} k`

export async function bench() {
  return [...deviceCode(), ...(await onSimulator())]
}

function deviceCode() {
  if (!isInstalled('g++')) {
    console.error('bench: the device code is skipped: g++ is not installed')
    return []
  }
  return withProgram('device_code', ({ run, instructionsOf }) => {
    const commands = 2 ** 20
    const lines = run('both', 2 * ROUNDS, commands, DEPTH, 8)
    const { commands: served, doorbellWrites } = lines.pop()
    // The first touches its memory for the first time.
    const rounds = lines.slice(1)
    const ns = median(rounds.map(({ engineNs, deviceNs }) => engineNs - deviceNs))
    const deviceNs = median(rounds.map((each) => each.deviceNs))
    const perDoorbell = served / doorbellWrites
    return [
      {
        name: 'Device code on a thread of the CPU (`cpu-kernel`), one 4 KiB read at QD 32, against a null device on the same thread, whose own time is taken off',
        value: ns,
        unit: 'ns',
        goal: '≤ 60 ns',
        met: ns <= 60,
        note: `${(1e3 / ns).toFixed(1)} M commands/s; the null device, which reads two dwords of each SQE and posts CQEs in batches of 32, takes ${deviceNs.toFixed(1)} ns of its own; median of ${rounds.length} rounds of ${commands} commands, in the thread’s CPU time. The best published figure of one thread is 27 ns (37.5 M IOPS, uPCIe, 16 drives); between it and ours stands what a null device leaves out: completions that are in no cache, doorbells that leave the processor`,
      },
      ...instructions(instructionsOf),
      {
        name: 'Commands for each write to a doorbell, tails and heads counted together, in the same run',
        value: perDoorbell,
        unit: '',
        goal: '≥ 8',
        met: perDoorbell >= 8,
        note: 'counted by the engine',
      },
      transactions(run),
    ]
  })
}

/** By the same device code with a port that counts. */
function transactions(run) {
  const of = (depth) => {
    const { sqeStores, listStores, outcomeStores, doorbells, polls, hostLoads } = run('count', 1, 2 ** 16, depth, 8)[1]
    const reads = polls + hostLoads
    return { reads, all: reads + sqeStores + listStores + outcomeStores + doorbells }
  }
  const { reads, all } = of(DEPTH)
  return {
    name: 'Loads and stores that cross PCIe for a 4 KiB read at QD 32, on a GPU with its queues in host memory',
    value: all,
    unit: 'a command',
    goal: `≤ ${ORIGINAL_TRANSACTIONS / 5}, a fifth of the original’s ${ORIGINAL_TRANSACTIONS}`,
    met: all <= ORIGINAL_TRANSACTIONS / 5,
    note: `by construction, counted by running the device code with a port that counts; ${reads.toFixed(2)} of them are loads, which a GPU waits for, of the original’s 16; QD 1: ${of(1).all.toFixed(1)}; polls for a command that is not done yet come on top in both`,
  }
}

/** Counted by callgrind, where it is. */
function instructions(instructionsOf) {
  if (!isInstalled('valgrind')) {
    console.error('bench: instructions of the device code are not counted: valgrind is not installed')
    return []
  }
  const commands = 2 ** 16
  const all = instructionsOf('gpunvme::*Serve*', 'engine', 1, commands, DEPTH, 8)
  const device = instructionsOf('gpunvme::*AnswerAlone(*', 'device', 1, commands, DEPTH, 8)
  return [
    {
      name: 'Instructions of it',
      value: (all - device) / commands,
      unit: 'a command',
      note: `counted by callgrind over ${commands} commands, polls, doorbells and looks at the clock included; the null device’s ${(device / commands).toFixed(0)} are taken off`,
    },
  ]
}

async function onSimulator() {
  let drive
  try {
    drive = await startDrive()
  } catch (error) {
    if (!(error instanceof NativeAddonError)) throw error
    console.error(`bench: the engine cpu-kernel on the simulator is skipped: ${error.message}`)
    return []
  }
  try {
    return [...(await throughput(drive)), await latency(drive)]
  } finally {
    await drive.close()
  }
}

async function throughput(drive) {
  const small = [4 * KIB, 100_000, SMALL_SPAN_BYTES]
  const large = [128 * KIB, 2048]
  const round = (engine) =>
    drive.withDriver(engine, DEPTH, async (reader, kernelEngine) => {
      const smallPlan = reader.planReads(...small)
      const largePlan = reader.planReads(...large)
      // For both, the first is code that is not compiled yet, and memory that is in no cache.
      await reader.execute(smallPlan)
      const before = kernelEngine?.statistics
      const smallMs = await reader.execute(smallPlan)
      const after = kernelEngine?.statistics
      await reader.execute(largePlan)
      const largeMs = await reader.execute(largePlan)
      const perDoorbell = (after?.commands - before?.commands) / (after?.doorbellWrites - before?.doorbellWrites)
      return { smallMs, largeMs, copyMs: reader.copy(...large), perDoorbell }
    })
  const rounds = []
  for (let index = 0; index < ROUNDS; index++)
    rounds.push({ ours: await round('cpu-kernel'), host: await round('host') })
  const rate = (of) => median(rounds.map((each) => small[1] / of(each).smallMs))
  const gbs = (of) => median(rounds.map((each) => (large[0] * large[1]) / of(each) / 1e6))
  const ours = rate((each) => each.ours)
  const host = rate((each) => each.host)
  const ofCopy = (which) => median(rounds.map((each) => each[which].copyMs / each[which].largeMs))
  const largeRatio = ofCopy('ours')
  return [
    {
      name: 'Engine `cpu-kernel` through the driver’s `execute`, on the real-time simulator: 4 KiB reads from RAM media, 32 in flight',
      value: ours,
      unit: 'thousand commands/s',
      goal: '≥ 800',
      met: ours >= 800,
      note: `two threads that poll, the engine’s and the simulator’s; ${median(rounds.map((each) => each.ours.perDoorbell)).toFixed(0)} commands a doorbell; plans of ${small[1]} commands over 64 MiB, median of ${ROUNDS}`,
    },
    {
      name: 'The same against the engine `host`, on the same simulator',
      value: median(rounds.map((each) => each.host.smallMs / each.ours.smallMs)),
      unit: '×',
      note: `the host engine: ${thousands(host)} commands/s`,
    },
    {
      name: 'Engine `cpu-kernel` on the real-time simulator: 128 KiB reads, 32 in flight, against memcpy (`Uint8Array.set`) of as many blocks into the same memory',
      value: largeRatio,
      unit: '×',
      goal: '≥ 0.9',
      met: largeRatio >= 0.9,
      note: `${gbs((each) => each.ours.largeMs).toFixed(1)} against ${gbs((each) => each.ours.copyMs).toFixed(1)} GB/s, out of 256 MiB; the engine \`host\`: ${ofCopy('host').toFixed(2)} ×`,
    },
  ]
}

/** From a call of `execute` with one command until its promise resolves. */
async function latency(drive) {
  const calls = 2000
  const round = (engine) =>
    drive.withDriver(engine, 1, async (reader) => {
      const plan = reader.planReads(4 * KIB, 1)
      const times = []
      for (let call = 0; call < calls; call++) times.push(await reader.execute(plan))
      // Those before are of code that is not compiled yet.
      return median(times.slice(calls / 2)) * 1000
    })
  const rounds = []
  for (let index = 0; index < ROUNDS; index++)
    rounds.push({ ours: await round('cpu-kernel'), host: await round('host') })
  const ours = median(rounds.map((each) => each.ours))
  const host = median(rounds.map((each) => each.host))
  return {
    name: 'Engine `cpu-kernel` on the real-time simulator: one 4 KiB read at QD 1, from the call of `execute` to its outcome',
    value: ours,
    unit: 'µs',
    note: `the engine \`host\`: ${host.toFixed(1)} µs; medians of ${calls / 2} calls, ${ROUNDS} times`,
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await bench())
