import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Measurement, Order } from '../guest/peer-window.js'
import { runGuest } from '../guest.js'
import { kernelFaults } from '../kernel-log.js'
import { environmentOf, MODES, modulesOf, parts } from '../modes.js'
import { CACHE } from '../parts.js'
import type { Scenario } from '../protocol.js'
import { buildCounter, buildLibnvm } from './build.js'
import { figuresOf, joined, tableOf, type Figure } from './figures.js'
import { findFio } from './fio.js'

// Compares this driver, the kernel's and, if a checkout is available, libnvm, in turn on one controller of one guest.
// The results are reported in docs/evidence/peers.md.

const MIB = 2 ** 20
const ROUNDS = Number(process.env['GPUNVME_PEER_ROUNDS'] ?? 5)
/** Rounds with instruction counting, which is slow. Counts hardly differ between rounds, so fewer rounds suffice. */
const COUNTED_ROUNDS = Math.ceil(ROUNDS / 2)

const ORDER: Order = {
  shapes: [
    { name: '4 KiB, 1 in flight', bytes: 4096, depth: 1 },
    { name: '4 KiB, 32 in flight', bytes: 4096, depth: 32 },
    { name: '1 MiB, 4 in flight', bytes: MIB, depth: 4 },
  ],
  warmUpMs: 1000,
  windowMs: 2000,
  spanBytes: 256 * MIB,
}

test('measures this driver and its peers in turn on one controller', { timeout: 3_000_000 }, async () => {
  const mode = MODES.find(({ name }) => name === 'sysfs')!
  const found = parts()
  if (typeof found === 'string') throw new Error(found)
  const modules = modulesOf(found, mode)
  if (typeof modules === 'string') throw new Error(modules)
  const fio = findFio()
  if (typeof fio === 'string') throw new Error(fio)
  const libnvm = buildLibnvm(process.env['GPUNVME_LIBNVM'], join(CACHE, 'libnvm-read'))
  if (typeof libnvm === 'string') process.stdout.write(`libnvm is not measured: ${libnvm}\n`)

  const environment = {
    ...environmentOf(mode),
    PEER_ORDER: JSON.stringify(ORDER),
    PEER_COUNTERS: '0000:00:05.0',
    PEER_FIO: JSON.stringify(fio),
    ...(typeof libnvm === 'object' && { PEER_LIBNVM: libnvm.program }),
  }
  const scenario = (script: string, round: number): Scenario => ({
    name: `${script} ${round}`,
    script,
    timeoutMs: 600_000,
    environment,
  })
  const drivers = ['peer-fio', 'peer-ours', ...(typeof libnvm === 'object' ? ['peer-libnvm'] : [])]
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-peers-'))
  try {
    const counters = join(folder, 'counters')
    writeFileSync(counters, '')
    truncateSync(counters, MIB)
    const plugin = ['-plugin', `file=${buildCounter(folder)},counters=${counters}`]

    /**
     * Runs a guest that measures all drivers in each round, in alternating order, so that none always follows the
     * same one.
     */
    const measure = async (rounds: number, added: readonly string[]): Promise<Boot> => {
      const turns = Array.from({ length: rounds }, (_, round) =>
        (round % 2 === 0 ? drivers : drivers.toReversed()).map((script) => scenario(script, round)),
      )
      const before = loadavg()[0]!
      const run = await runGuest({
        parts: found,
        // One polled queue, for fio's --hipri.
        modules: modules.map((module) =>
          module.name === 'nvme' ? { ...module, parameters: 'poll_queues=1' } : module,
        ),
        scenarios: [scenario('peer-nothing', 0), ...turns.flat(), scenario('peer-nothing', 1)],
        images: { fixed: ORDER.spanBytes },
        devices: [
          ...['-device', 'nvme,id=fixed,serial=VM0001,drive=fixed,addr=4'],
          ...['-object', `memory-backend-file,id=counters,size=1M,share=on,mem-path=${counters}`],
          ...['-device', 'ivshmem-plain,memdev=counters,addr=5'],
          ...added,
        ],
        // Without KVM, the kernel would reject the TSC and use a slower clock source, unlike on real machines.
        append: 'hugepages=96 tsc=reliable',
        memoryMiB: 1024,
        deadlineMs: 1_500_000,
      })
      const load = [before, loadavg()[0]!]
      for (const [name, { end }] of run.scenarios) {
        expect(end, `${name}: ${end?.stderr ?? run.console}`).toMatchObject({ code: 0, signal: null })
      }
      expect(run.finished, run.console).toBe(true)
      const log = [...run.kernel, ...[...run.scenarios.values()].flatMap(({ kernel }) => kernel)]
      expect(kernelFaults(log)).toEqual([])
      const measurements = [...run.scenarios.values()].flatMap(({ lines }) => lines as Measurement[])
      return { load, measurements }
    }

    const free = await measure(ROUNDS, [])
    const counted = await measure(COUNTED_ROUNDS, plugin)
    const [rates, counts] = [free, counted].map(({ measurements }) => figuresOf(measurements)) as [Figure[], Figure[]]
    const figures = joined(rates, counts).filter(({ driver }) => driver !== 'nothing')
    const report = { kernel: found.release, fio: fio.version, node: process.version, figures, free, counted }
    const reports = join(import.meta.dirname, '../../../.reports')
    mkdirSync(reports, { recursive: true })
    writeFileSync(join(reports, 'peers.json'), `${JSON.stringify(report, null, 2)}\n`)
    const shapes = ORDER.shapes.map(({ name }) => figures.filter(({ shape }) => shape === name))
    const loads = [free, counted].map(({ load }) => load.join(' to '))
    process.stdout.write(`${tableOf(shapes.flat(), 'plans')}\n\nload ${loads.join(', and while counting ')}\n`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

interface Boot {
  /** Load average of the host, before and after. */
  readonly load: readonly number[]
  readonly measurements: readonly Measurement[]
}
