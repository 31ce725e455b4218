// Rate of the driver on QEMU's controller, compared with a minimal loop on the same channel; and rates of QEMU's
// controller and of the simulator with that loop. Skipped without QEMU.
// Alone: node packages/host-driver/bench/qtest.mjs
import { pathToFileURL } from 'node:url'
import { Controller } from '@gpunvme/host-driver'
import { qemuIsInstalled, startQemu } from '@gpunvme/host-driver/qtest'
import { simulate } from '@gpunvme/nvme-sim'
import { RawHost, transferAll } from '@gpunvme/nvme-sim/conformance'

const DEPTH = 32
const COMMANDS = 4000
const ROUNDS = 7
const SPAN_BLOCKS = 65_536

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

async function rateOf(action) {
  const before = performance.now()
  await action()
  return (COMMANDS / (performance.now() - before)) * 1000
}

/** Returns reads per second of the minimal loop. */
async function minimal(transport) {
  const host = new RawHost(transport)
  await host.disable()
  await host.enable()
  await host.createPair(1, DEPTH + 1)
  const reads = { commands: COMMANDS, blocks: 8, depth: DEPTH, spanBlocks: SPAN_BLOCKS }
  const rate = await rateOf(() => transferAll(host, reads))
  await host.close()
  return rate
}

/** Returns reads per second of the driver, in one plan. */
async function driver(transport) {
  const ctrl = await Controller.open(transport, { queueDepth: DEPTH })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(DEPTH * 4096)
  const transfers = Array.from({ length: COMMANDS }, (_, index) => ({
    slba: (index * 8) % SPAN_BLOCKS,
    blocks: 8,
    offsetBytes: (index % DEPTH) * 4096,
  }))
  const plan = ns.planReads(transfers)
  const rate = await rateOf(async () => {
    const { failures } = await ns.execute(plan, memory)
    if (failures.length > 0) throw new Error(`${failures.length} reads failed`)
  })
  memory.free()
  await ctrl.close()
  return rate
}

export async function bench() {
  if (!qemuIsInstalled()) {
    console.error('bench: host-driver/qtest is skipped: QEMU is not installed')
    return []
  }
  const qemu = await startQemu()
  try {
    const { transport } = qemu.controllers[0]
    const simulated = simulate({ profile: 'ideal', namespaces: [{ capacityBytes: SPAN_BLOCKS * 512 }] }).transport
    const rounds = []
    for (let round = 0; round <= ROUNDS; round++) {
      const least = await minimal(transport)
      const ours = await driver(transport)
      const simulator = await minimal(simulated)
      // The first round warms up all three.
      if (round > 0) rounds.push({ least, ours, simulator })
    }
    const ratio = median(rounds.map(({ least, ours }) => ours / least))
    const thousands = (of) => `${(median(rounds.map(of)) / 1000).toFixed(1)} k`
    return [
      {
        name: 'Driver on QEMU’s controller: 4 KiB reads at QD 32, compared with a minimal loop on the same channel',
        value: ratio,
        unit: '×',
        goal: '≥ 0.9',
        met: ratio >= 0.9,
        note: `${thousands(({ ours }) => ours)} and ${thousands(({ least }) => least)} reads per second; registers over a FIFO; QEMU ${qemu.version.major}.${qemu.version.minor}`,
      },
      {
        name: 'Simulator with the same loop, compared with QEMU’s controller',
        value: median(rounds.map(({ least, simulator }) => simulator / least)),
        unit: '×',
        note: `${thousands(({ simulator }) => simulator)} reads per second; profile \`ideal\`, virtual time`,
      },
    ]
  } finally {
    await qemu.close()
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await bench())
