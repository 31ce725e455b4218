// Cost of the engine `cpu-kernel`: its device code alone, with a null device; and through the driver, on the real-time
// simulator. Without a compiler or the addon, the figures that require it are skipped.
// Alone: node packages/cuda-native/bench/engine.mjs
import { pathToFileURL } from 'node:url'
import { NativeAddonError } from '@gpunvme/cuda-native/host'
import { isInstalled, withProgram } from './lib/program.mjs'
import { startDrive } from './lib/realtime.mjs'

const KIB = 1024
const MIB = 1024 * KIB
const DEPTH = 32
const ROUNDS = 9
/** Media that 4 KiB reads use: only a part, as in the bench of nvme-sim. */
const SMALL_SPAN_BYTES = 64 * MIB

/** Loads, stores, loads of the poll that finds the completion, doorbells: see ../docs/command-cost.md. */
const PREDECESSOR_TRANSACTIONS = 13 + 22 + 3 + 2

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
  const rates = ({ run }) => [8, DEPTH].map((depth) => onModelledDrive(run, depth))
  const modelled = withProgram('modelled_drive', rates, ['-std=c++17', '-O2'])
  const measured = withProgram('device_code', ({ run, instructionsOf }) => {
    const commands = 2 ** 20
    const lines = run('both', 2 * ROUNDS, commands, DEPTH, 8)
    const { commands: served, doorbellWrites } = lines.pop()
    // The first round includes page faults of untouched memory.
    const rounds = lines.slice(1)
    const ns = median(rounds.map(({ engineNs, deviceNs }) => engineNs - deviceNs))
    const deviceNs = median(rounds.map((each) => each.deviceNs))
    const perDoorbell = served / doorbellWrites
    return [
      {
        name: 'Device code on a CPU thread (`cpu-kernel`): one 4 KiB read at QD 32, minus the time of a null device on the same thread',
        value: ns,
        unit: 'ns',
        goal: '≤ 60 ns',
        met: ns <= 60,
        note: `${(1e3 / ns).toFixed(1)} M commands/s; the null device reads two dwords of each SQE, posts CQEs in batches of 32, and takes ${deviceNs.toFixed(1)} ns; median of ${rounds.length} rounds of ${commands} commands, in CPU time of the thread. The best published figure for one thread is 27 ns (37.5 M IOPS, uPCIe, 16 drives). It includes costs that a null device does not have: completions missing from the cache, and doorbells over PCIe`,
      },
      ...instructions(instructionsOf),
      {
        name: 'Device code: commands per doorbell write (tail or head), in the same run',
        value: perDoorbell,
        unit: '',
        goal: '≥ 8',
        met: perDoorbell >= 8,
        note: 'counted by the engine',
      },
      transactions(run),
    ]
  })
  return [...measured, ...modelled]
}

/** Measures in virtual time: the result is the same on every machine. */
function onModelledDrive(run, depth) {
  const [fastestNs, slowestNs, commands] = [60_000, 100_000, 20_000]
  const [{ succeeded, ns, doorbellWrites }] = run(commands, depth, fastestNs, slowestNs)
  if (succeeded !== commands)
    throw new Error(`modelled drive: expected ${commands} successful commands, got ${succeeded}`)
  const rate = commands / (ns / 1e6)
  const bound = depth / ((fastestNs + slowestNs) / 2e6)
  return {
    name: `Device code with the access costs of an H100 and a modelled drive of 60 to 100 µs per read: rate at QD ${depth}, relative to QD / latency`,
    value: rate / bound,
    unit: '×',
    goal: '≥ 0.85',
    met: rate / bound >= 0.85,
    note: `${thousands(rate)} commands/s of ${thousands(bound)}; ${(commands / doorbellWrites).toFixed(1)} commands per doorbell write (tail or head); an ordered access to GPU memory is assumed to take 500 ns`,
  }
}

/** Counts accesses over PCIe with the same device code and a counting port, as a warp of one lane. */
function transactions(run) {
  const of = (depth) => {
    const { sqeStores, listStores, outcomeStores, doorbells, polls, hostLoads } = run('count', 1, 2 ** 16, depth, 8)[1]
    const reads = polls + hostLoads
    return { reads, all: reads + sqeStores + listStores + outcomeStores + doorbells }
  }
  const { reads, all } = of(DEPTH)
  return {
    name: 'Device code: loads and stores over PCIe for one 4 KiB read at QD 32, by a GPU with queues in host memory',
    value: all,
    unit: 'per command',
    goal: `≤ ${PREDECESSOR_TRANSACTIONS / 5}, a fifth of the predecessor’s ${PREDECESSOR_TRANSACTIONS}`,
    met: all <= PREDECESSOR_TRANSACTIONS / 5,
    note: `counted by running the device code with a counting port, as a warp of one lane; ${reads.toFixed(2)} of them are loads, for which a GPU waits (predecessor: 16); QD 1: ${of(1).all.toFixed(1)}; both figures exclude polls of incomplete commands`,
  }
}

/** Counts instructions with callgrind, if it is installed. */
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
      name: 'Device code: instructions',
      value: (all - device) / commands,
      unit: 'per command',
      note: `counted by callgrind over ${commands} commands, including polls, doorbells and clock reads; without the ${(device / commands).toFixed(0)} of the null device`,
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
      // The first run of each plan warms up code and caches.
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
      name: 'Engine `cpu-kernel` through `execute`, on the real-time simulator: 4 KiB reads from RAM media, 32 in flight',
      value: ours,
      unit: 'thousand commands/s',
      goal: '≥ 800',
      met: ours >= 800,
      note: `two polling threads: engine and simulator; ${median(rounds.map((each) => each.ours.perDoorbell)).toFixed(0)} commands per doorbell write; plans of ${small[1]} commands over 64 MiB, median of ${ROUNDS}`,
    },
    {
      name: 'The same, compared with the engine `host`',
      value: median(rounds.map((each) => each.host.smallMs / each.ours.smallMs)),
      unit: '×',
      note: `engine \`host\`: ${thousands(host)} commands/s`,
    },
    {
      name: 'Engine `cpu-kernel` on the real-time simulator: 128 KiB reads, 32 in flight, compared with copying the same blocks into the same memory (`Uint8Array.set`)',
      value: largeRatio,
      unit: '×',
      goal: '≥ 0.9',
      met: largeRatio >= 0.9,
      note: `${gbs((each) => each.ours.largeMs).toFixed(1)} and ${gbs((each) => each.ours.copyMs).toFixed(1)} GB/s, from 256 MiB of media; engine \`host\`: ${ofCopy('host').toFixed(2)} ×`,
    },
  ]
}

/** Measures the time from a call of `execute` with one command until its promise resolves. */
async function latency(drive) {
  const calls = 2000
  const round = (engine) =>
    drive.withDriver(engine, 1, async (reader) => {
      const plan = reader.planReads(4 * KIB, 1)
      const times = []
      for (let call = 0; call < calls; call++) times.push(await reader.execute(plan))
      // The first half warms up the code.
      return median(times.slice(calls / 2)) * 1000
    })
  const rounds = []
  for (let index = 0; index < ROUNDS; index++)
    rounds.push({ ours: await round('cpu-kernel'), host: await round('host') })
  const ours = median(rounds.map((each) => each.ours))
  const host = median(rounds.map((each) => each.host))
  return {
    name: 'Engine `cpu-kernel` on the real-time simulator: latency of one 4 KiB read at QD 1, from the call of `execute` to its result',
    value: ours,
    unit: 'µs',
    note: `engine \`host\`: ${host.toFixed(1)} µs; median of ${ROUNDS} medians of ${calls / 2} calls`,
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await bench())
