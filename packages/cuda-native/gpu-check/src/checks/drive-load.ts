import { equal, fail, type Check, type Fact } from '../check.js'
import { driveAddonOf, type CheckContext } from '../context.js'
import { runLoad, type LoadOptions, type LoadResult } from '../drive-load.js'
import type { Server } from '../served-queues.js'
import type { DriveFaults } from '../pattern-drive.js'

const TIMEOUT_NS = 5_000_000_000
const LANES = 32
const NO_MISTAKE = [0, 'none']

/** Maximum number of CPU threads that serve queues in host memory. */
const MAX_THREADS = 8

/** Returns both kinds of server. CPU threads require the addon. */
function serversOf({ driveAddon }: CheckContext): [name: string, server: Server][] {
  const threads: [string, Server][] =
    driveAddon === undefined ? [] : [['CPU threads', { addon: driveAddon, maxThreads: MAX_THREADS }]]
  return [['a kernel', 'kernel'], ...threads]
}

/** Checks that every command of a load succeeded, and that the drive received each one once. */
function allRead(what: string, { endings, wrongWords, drive }: LoadResult, commands: number): void {
  equal(`${what}: host errors detected by the drive`, [drive.mistakes, drive.firstMistake], NO_MISTAKE)
  equal(`${what}: outcomes`, endings, { success: commands })
  equal(`${what}: commands received by the drive`, drive.commands, commands)
  equal(`${what}: mismatched words`, wrongWords, 0)
}

const FAULTS: readonly (readonly [name: string, faults: DriveFaults])[] = [
  ['in order', {}],
  ['reversed', { reverses: true }],
  ['delayed', { delayOneIn: 5, delayRounds: 3, reverses: true }],
  ['doubled', { duplicateOneIn: 7 }],
]
const ORDERS = FAULTS.slice(0, 2)

const correct: Check = {
  id: 'drive-load-data',
  title:
    'Many GPU threads read at once from a drive that reorders, delays and duplicates completions, and every word is correct',
  limitMs: 120_000,
  async run(context) {
    const facts: Record<string, Fact> = {}
    const { warps, queues, rounds } = context.scale.load
    for (const [name, server] of serversOf(context)) {
      for (const [how, faults] of FAULTS) {
        for (const [blockBytes, blocks] of [
          [512, 1],
          [4096, 1],
          // With a PRP list.
          [512, 32],
        ] as const) {
          const what = `served by ${name}, ${how}, ${blocks * blockBytes} bytes`
          const shape = { server, queues, warps, rounds, blockBytes, blocks, timeoutNs: TIMEOUT_NS, movesData: true }
          const result = await runLoad(context, { ...shape, ...faults, entries: 64 })
          allRead(what, result, rounds * warps * LANES)
          facts[what] = Math.round(result.commandsPerSecond)
        }
      }
    }
    for (const [how, faults] of ORDERS) {
      const what = `by tickets, ${how}, 4096 bytes`
      const data = { blockBytes: 4096, blocks: 1, movesData: true }
      const shape = { server: 'kernel', queues, warps, rounds, ...data, timeoutNs: TIMEOUT_NS } as const
      const result = await runLoad(context, { ...shape, ...faults, protocol: 'tickets', entries: 64 })
      allRead(what, result, rounds * warps * LANES)
      facts[what] = Math.round(result.commandsPerSecond)
    }
    return facts
  },
}

const lossy: Check = {
  id: 'drive-load-loss',
  title: 'Each command that a drive loses times out, and every other command ends',
  limitMs: 60_000,
  async run(context) {
    const facts: Record<string, Fact> = {}
    const { warps, queues, lossTimeoutNs: timeoutNs } = context.scale.load
    const rounds = 8
    for (const [name, server] of serversOf(context)) {
      const shape = { server, queues, warps, rounds, blockBytes: 512, blocks: 1, timeoutNs }
      const { endings, drive, ns } = await runLoad(context, { ...shape, loseOneIn: 50 })
      equal(`served by ${name}: host errors detected by the drive`, [drive.mistakes, drive.firstMistake], NO_MISTAKE)
      const { success = 0, timeout = 0, halted = 0, ...others } = endings
      equal(`served by ${name}: other outcomes`, others, {})
      equal(`served by ${name}: outcomes`, success + timeout + halted, rounds * warps * LANES)
      equal(`served by ${name}: commands completed by the drive`, success, drive.completions)
      equal(`served by ${name}: commands lost by the drive`, timeout, drive.lost)
      if (timeout === 0) fail(`served by ${name}: expected time-outs, got none`)
      facts[name] = { success, timeout, halted, timeLimitMs: timeoutNs / 1e6, tookMs: Math.round(ns / 1e6) }
    }
    const shape = { server: 'kernel', queues, warps, rounds, blockBytes: 512, blocks: 1, timeoutNs } as const
    const { endings, drive } = await runLoad(context, { ...shape, protocol: 'tickets', loseOneIn: 50 })
    const { success = 0, timeout = 0, halted = 0, ...others } = endings
    equal('by tickets: other outcomes', others, {})
    equal('by tickets: outcomes', success + timeout + halted, rounds * warps * LANES)
    if (drive.lost === 0 || timeout < drive.lost)
      fail(`by tickets: expected a time-out for each lost command, got ${timeout} for ${drive.lost}`)
    facts['by tickets'] = { success, timeout, halted, lost: drive.lost }
    return facts
  },
}

const rate: Check = {
  id: 'drive-load-rate',
  title: 'Commands per second of many GPU threads on many queues of a drive that completes commands immediately',
  limitMs: 240_000,
  async run(context) {
    driveAddonOf(context)
    const facts: Record<string, Fact> = {}
    for (const [name, server] of serversOf(context)) {
      const rates: Record<string, number> = {}
      let best: { options: LoadOptions; result: LoadResult } | undefined
      for (const point of context.scale.load.points) {
        const options = rateShape(server, point, context.scale.load.commands)
        const result = await runLoad(context, options)
        allRead(`served by ${name}, ${pointName(point)}`, result, options.rounds * options.warps * LANES)
        rates[pointName(point)] = Math.round(result.commandsPerSecond)
        if (options.queues === 1) note(context, 'one-queue', name, options, result)
        if (best === undefined || result.commandsPerSecond > best.result.commandsPerSecond) best = { options, result }
      }
      note(context, 'most', name, best!.options, best!.result)
      facts[name] = rates
    }
    for (const queues of context.scale.load.comparedQueues) {
      facts[`compared on ${queues} queues`] = await compare(context, queues)
    }
    return facts
  },
}

type Point = readonly [queues: number, warps: number]
const pointName = ([queues, warps]: Point) => `${queues} queues, ${warps} warps`
const PER_LOAD = 'reads of 4096 bytes by warps that each wait for 32 commands'

/** Runs loads with different numbers of warps, alternately through gnv::Device and with tickets. Records the highest rates. */
async function compare(context: CheckContext, queues: number): Promise<Fact> {
  const { points, comparedCommands } = context.scale.load
  const best = { gnv: 0, tickets: 0 }
  const warpsOf = { gnv: 0, tickets: 0 }
  for (const point of points.filter(([of]) => of === queues)) {
    for (const protocol of ['gnv', 'tickets'] as const) {
      const options = rateShape('kernel', point, comparedCommands)
      const result = await runLoad(context, { ...options, protocol })
      allRead(`by ${protocol}, ${pointName(point)}`, result, options.rounds * options.warps * LANES)
      if (result.commandsPerSecond <= best[protocol]) continue
      best[protocol] = result.commandsPerSecond
      warpsOf[protocol] = options.warps
    }
  }
  const conditions = {
    ...{ queues, warps: warpsOf, commands: comparedCommands, statistic: 'maximum over the numbers of warps' },
    ...{ entries: 1024, identifiers: 768, controller: 'served by a kernel', memory: 'queues in GPU memory' },
  }
  const record = (name: string, value: number, unit: string, per: string) => {
    context.figure({ name: `drive-load-ticket-${name}-${queues}-queues`, value, unit, per, conditions })
  }
  const over = best.gnv / best.tickets
  record('gnv', Math.round(best.gnv), 'commands/s', PER_LOAD)
  record('tickets', Math.round(best.tickets), 'commands/s', PER_LOAD)
  record('ratio', over, 'times', 'commands/s of gnv::Device divided by commands/s of the ticket protocol')
  return { gnv: Math.round(best.gnv), tickets: Math.round(best.tickets), ratio: over }
}

/** Options of a load of at least `commands` commands that measures a rate: it moves no data. */
function rateShape(server: Server, [queues, warps]: Point, commands: number): LoadOptions {
  const rounds = Math.max(4, Math.ceil(commands / (warps * LANES)))
  return { server, queues, warps, rounds, blockBytes: 4096, blocks: 1, timeoutNs: TIMEOUT_NS }
}

/** Records a rate if it is the highest with its name. */
function note(context: CheckContext, which: string, server: string, options: LoadOptions, result: LoadResult): void {
  const name = `drive-load-${which}-${server.replace('a ', '').replace(' ', '-')}`
  const at = context.figures.findIndex((figure) => figure.name === name)
  if (at >= 0 && context.figures[at]!.value >= result.commandsPerSecond) return
  if (at >= 0) context.figures.splice(at, 1)
  const { queues, warps, rounds } = options
  const conditions = {
    ...{ queues, warps, commands: rounds * warps * LANES, rings: result.drive.rings },
    statistic: 'maximum over the numbers of queues and warps',
    controller: `completes commands immediately, moves no data, served by ${server}`,
    memory: server === 'a kernel' ? 'queues in GPU memory' : 'queues in host memory',
  }
  context.figure({ name, value: Math.round(result.commandsPerSecond), unit: 'commands/s', per: PER_LOAD, conditions })
}

/** Many GPU threads that submit commands at once, on drives that a kernel or CPU threads serve. */
export const driveLoadChecks: readonly Check[] = [correct, lossy, rate]
