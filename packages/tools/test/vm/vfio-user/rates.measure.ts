import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGuest } from '../../../../cuda-native/test/vm/guest.js'
import { guestOf, servedGuestParts, type ServedGuestOptions } from './served-guest.js'
import { ServerProcess } from './server-process.js'
import { toldSerial } from './told.js'
import type { Turn } from './turn.js'

// Compares a served drive with QEMU's NVMe controller in one guest: alternating read rates, CPU time of the server, and the
// time that a guest takes to start with either.

const ROUNDS = Number(process.env['ROUNDS'] ?? 10)
const BOOTS = Number(process.env['BOOTS'] ?? 3)
const BYTES = 256 * 1024 * 1024
const SERIES = '6.1'
const made = servedGuestParts(SERIES)

const BUILTIN = ['-device', 'nvme,serial=BUILTIN,drive=builtin,addr=5']
const base = { series: SERIES, drives: [], deadlineMs: 1_200_000 } as const

/** Starts a guest with the served drive, with QEMU's drive, or with both. */
async function run(drives: readonly Turn['drive'][], options: Pick<ServedGuestOptions, 'scenarios'>, onTurn?: OnTurn) {
  if (typeof made === 'string') throw new Error(made)
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-rates-'))
  const image = join(folder, 'image')
  writeFileSync(image, '')
  truncateSync(image, BYTES)
  const socket = join(folder, 'socket')
  const isServed = drives.includes('served')
  const server = isServed
    ? await ServerProcess.start({ ...toldSerial('SERVED'), socket, namespaces: [{ nsid: 1, file: { path: image } }] })
    : undefined
  let turns = Promise.resolve()
  const onLine = (line: unknown) => void (turns = turns.then(() => onTurn?.(line as Turn, server!)))
  const own = drives.includes('builtin') ? { devices: BUILTIN, images: { builtin: BYTES } } : {}
  try {
    const guest = await runGuest(guestOf({ ...base, ...options, ...own, onLine }, made, isServed ? [socket] : []))
    await turns
    expect(guest.finished, guest.console).toBe(true)
    return guest
  } finally {
    await server?.close()
    rmSync(folder, { recursive: true })
  }
}

type OnTurn = (turn: Turn, server: ServerProcess) => Promise<void>

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
const shown = (values: readonly number[], digits = 0) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`

test.runIf(typeof made !== 'string')('rates', { timeout: 3_600_000 }, async () => {
  const rates = new Map<string, number[]>()
  const costs = new Map<number, number[]>()
  const add = <Key>(to: Map<Key, number[]>, key: Key, value: number) =>
    void to.set(key, [...(to.get(key) ?? []), value])
  let before = { commands: 0, microseconds: 0 }
  const now = async (server: ServerProcess) => {
    const { statistics, cpuMicroseconds } = await server.statistics()
    const commands = Object.values(statistics.ioCommands).reduce((sum, count) => sum + count, 0)
    return { commands, microseconds: cpuMicroseconds.user + cpuMicroseconds.system }
  }
  const scenarios = [{ name: 'rates', script: 'rates', timeoutMs: 1_000_000, environment: { VM_ROUNDS: `${ROUNDS}` } }]
  await run(['served', 'builtin'], { scenarios }, async ({ drive, depth, iops }, server) => {
    const counted = await now(server)
    if (iops !== undefined) {
      add(rates, `${drive} ${depth}`, iops)
      if (drive === 'served')
        add(costs, depth, (counted.microseconds - before.microseconds) / (counted.commands - before.commands))
    }
    before = counted
  })

  const boots = new Map<string, number[]>()
  for (let boot = 0; boot < BOOTS; boot++) {
    for (const drive of ['served', 'builtin'] as const) {
      const { bootMs } = await run([drive], { scenarios: [] })
      add(boots, drive, bootMs / 1000)
    }
  }

  const lines = [1, 32].map((depth) => {
    const [ours, theirs] = [rates.get(`served ${depth}`)!, rates.get(`builtin ${depth}`)!]
    const ratio = (median(ours) / median(theirs)).toFixed(2)
    return `| 4 KiB random read, ${depth} in flight, IOPS | ${shown(ours)} | ${shown(theirs)} | ${ratio} |`
  })
  const [served, builtin] = [boots.get('served')!, boots.get('builtin')!]
  process.stdout.write(
    [
      `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores of ${cpus()[0]!.model}, load ${loadavg()[0]!.toFixed(1)} at the end, ` +
        `Linux ${SERIES}, ${ROUNDS} rounds`,
      '| | served | QEMU’s own | ratio |',
      '| --- | --- | --- | --- |',
      ...lines,
      `| from QEMU's start to the first program, s | ${shown(served, 1)} | ${shown(builtin, 1)} | ${(median(served) / median(builtin)).toFixed(2)} |`,
      ...[1, 32].map(
        (depth) =>
          `| processor time of the server a command, ${depth} in flight, µs | ${shown(costs.get(depth)!)} | | |`,
      ),
      '',
    ].join('\n'),
  )
})

test.runIf(typeof made === 'string')('rates of a served drive', ({ skip }) => skip(made as string))
