// Cost of the simulator in virtual time, compared with copying the same bytes.
import { profiles, RamMedia, simulate, unverifiableMedia } from '@gpunvme/nvme-sim'
import { RawHost, transfer, transferAll } from '@gpunvme/nvme-sim/conformance'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** Larger than any cache, but small enough for a shared machine. */
const MEDIA_BYTES = 512 * MIB
const DEPTH = 32
const ROUNDS = 5

let opened

/** Functions whose instructions `npm run bench -- --against` counts. */
export const works = {
  async readsOf4KiB(count) {
    opened ??= openHost(simulate({ namespaces: [{ capacityBytes: 4 * MIB }] }).transport)
    await transferAll(await opened, { commands: count, blocks: 8, depth: DEPTH, spanBlocks: (4 * MIB) / 512 })
  },
}

export async function bench() {
  const media = new RamMedia(MEDIA_BYTES)
  const pattern = new Uint8Array(MIB).fill(1)
  for (let at = 0; at < MEDIA_BYTES; at += MIB) media.write(at, pattern)
  return [await small(media), await large(media), await largeUnmoved(), await timeouts()]
}

/** Measures 4 KiB reads that take no virtual time, so that the figure is the cost of the simulator. */
async function small(media) {
  const commands = 200_000
  const read = { commands, blocks: 8, depth: DEPTH, spanBlocks: (64 * MIB) / 512 }
  const host = await openHost(simulate({ namespaces: [{ media }] }).transport)
  const copy = copier(media, 4096, 64 * MIB)
  await transferAll(host, read)
  const ns = []
  const ratios = []
  for (let round = 0; round < ROUNDS; round++) {
    const wallMs = await wallOf(() => transferAll(host, read))
    ns.push((wallMs * 1e6) / commands)
    ratios.push(wallMs / copy(commands))
  }
  return {
    name: 'Virtual time: 4 KiB reads from RAM media, 32 in flight',
    value: median(ns),
    unit: 'ns per command',
    note: `${(1e3 / median(ns)).toFixed(2)} M commands/s on one thread; ${median(ratios).toFixed(1)} × the time of copying alone`,
  }
}

/** Measures 10 GiB in commands of 1 MiB, at the rate of the preset, with every byte copied. */
async function large(media) {
  const { commands, read } = tenGiB()
  const copy = copier(media, MIB, MEDIA_BYTES)
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const { wallMs, modelledMs } = await stream({ profile: 'sn740', namespaces: [{ media }] }, read)
    const copyMs = copy(commands)
    rounds.push({ ratio: copyMs / wallMs, speed: modelledMs / wallMs, copySpeed: modelledMs / copyMs })
  }
  const { ratio, speed, copySpeed } = rounds.sort((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
  return {
    name: 'Virtual time: `sn740`, 10 GiB in 1 MiB reads, compared with copying the same blocks (`Uint8Array.set`)',
    value: ratio,
    unit: '×',
    goal: '≥ 0.7',
    met: ratio >= 0.7,
    note: `${speed.toFixed(1)} × real time; copying alone: ${copySpeed.toFixed(1)} ×`,
  }
}

/** Measures the same with media that move no data. */
async function largeUnmoved() {
  const { read } = tenGiB()
  const speeds = []
  for (let round = 0; round < ROUNDS; round++) {
    const media = unverifiableMedia({ capacityBytes: MEDIA_BYTES })
    const { wallMs, modelledMs } = await stream({ profile: 'sn740', namespaces: [{ media }] }, read)
    speeds.push(modelledMs / wallMs)
  }
  return {
    name: 'The same with media that move no data, compared with the modelled time',
    value: median(speeds),
    unit: '× real time',
    goal: '≥ 30',
    met: median(speeds) >= 30,
    note: `at ${(profiles.sn740.readBytesPerSecond / MIB).toFixed(0)} MiB/s`,
  }
}

/** Measures a minute of virtual time without completions, in steps of one second. */
async function timeouts() {
  const faults = { rules: [{ match: { qid: 1 }, action: { kind: 'drop-completion' } }] }
  const { transport, clock } = simulate({ profile: 'sn740', faults })
  const host = await openHost(transport)
  const read = transfer(0x02, 0, 1, [host.alloc(512).iovaAt(0), 0])
  const startNs = clock.now()
  const wallMs = await wallOf(async () => {
    for (let second = 1; second <= 60; second++) {
      host.submit(1, read)
      await host.pass(startNs + second * 1e9 - clock.now())
      if (host.poll(1).length > 0) throw new Error('expected no completion')
    }
  })
  return {
    name: 'Virtual time: wall time of 60 s of command timeouts',
    value: wallMs,
    unit: 'ms',
    goal: '< 1000',
    met: wallMs < 1000,
    note: `${(clock.now() - startNs) / 1e9} s of virtual time, 60 commands without a completion`,
  }
}

/** Opens a host with queue pair 1 of 64 entries. */
async function openHost(transport) {
  const host = new RawHost(transport)
  await host.enable()
  await host.createPair(1, 64)
  return host
}

function tenGiB() {
  const commands = (10 * GIB) / MIB
  return { commands, read: { commands, blocks: MIB / 512, depth: DEPTH, spanBlocks: MEDIA_BYTES / 512 } }
}

async function stream(options, read) {
  const { transport, clock } = simulate(options)
  const host = await openHost(transport)
  await transferAll(host, { ...read, commands: 2 * DEPTH })
  const startNs = clock.now()
  const wallMs = await wallOf(() => transferAll(host, read))
  return { wallMs, modelledMs: (clock.now() - startNs) / 1e6 }
}

/** Returns a function that copies blocks from the same media into the same number of slots, and returns the time. */
function copier(media, blockBytes, spanBytes) {
  const slots = Array.from({ length: DEPTH }, () => new Uint8Array(blockBytes).fill(1))
  return (commands) => {
    const startMs = performance.now()
    for (let i = 0; i < commands; i++) media.read((i * blockBytes) % spanBytes, slots[i % DEPTH])
    return performance.now() - startMs
  }
}

async function wallOf(work) {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1]
}
