import type { Check, Fact } from '../check.js'
import { driveAddonOf, KIB } from '../context.js'
import { threadsFor } from '../drive-addon.js'
import { DEPTH, DriveRegion, engineOn, PAIR, readsOf, runEngine } from '../engine-on-drive.js'
import { expectLingering } from '../lingering-leader.js'
import { allSucceeded } from '../plans.js'
import { ratio } from '../report.js'

/** Maximum number of CPU threads that serve the queues. */
const MAX_THREADS = 12
const MICROSECOND_NS = 1000
/** Longer than a pause of this process between two plans. */
const LINGER_NS = 1e9
/** Plans between two checks of the leader's heartbeat. */
const PLANS_PER_HEARTBEAT = 20
/** Maximum number of commands of each queue pair. */
const COMMANDS = 100_000

const leaders: Check = {
  id: 'leaders',
  title:
    'Commands per second of the engine by number of leaders, which are blocks of one grid with one queue pair each',
  limitMs: 120_000,
  async run(context) {
    const facts: Record<string, Fact> = {}
    const commandsPerPair = Math.min(context.scale.speedCommands, COMMANDS)
    for (const count of context.scale.leaders) {
      const threads = threadsFor(count, MAX_THREADS)
      const { commandsPerSecond } = await runEngine(context, { pairs: count, commandsPerPair, threads })
      const rate = Math.round(commandsPerSecond)
      facts[`of ${count}`] = rate
      const conditions = {
        leaders: count,
        queueDepth: DEPTH,
        commands: count * commandsPerPair,
        controller: `completes commands immediately, ${threads} threads`,
      }
      const name = `leaders-${count}-commands-per-second`
      context.figure({ name, value: rate, unit: 'commands/s', per: '4 KiB reads', conditions })
    }
    return facts
  },
}

const latency: Check = {
  id: 'plan-latency',
  title: 'Time of a plan of one command, from execute() to its result, while the leader lingers',
  limitMs: 60_000,
  async run(context) {
    const region = new DriveRegion(context, 1)
    const stop = region.serve(driveAddonOf(context), 1)
    const plans = 400
    const byHost: number[] = []
    const byEngine: number[] = []
    try {
      const engine = engineOn(context, region, { lingerNs: LINGER_NS })
      const data = region.piece(region.at(0, PAIR.data), DEPTH * 4 * KIB)
      const plan = readsOf(1)
      // Launches the leader.
      allSucceeded('warm-up', await engine.execute(plan, data))
      for (let index = 0; index < plans; index++) {
        if (index % PLANS_PER_HEARTBEAT === 0) await expectLingering(engine)
        const before = process.hrtime.bigint()
        const summary = await engine.execute(plan, data)
        byHost.push(Number(process.hrtime.bigint() - before))
        byEngine.push(summary.endNs - summary.startNs)
        allSucceeded('a read', summary)
      }
      engine.detach()
    } finally {
      stop()
    }
    const middle = (times: number[]) => ratio(times.sort((a, b) => a - b)[plans / 2]!, MICROSECOND_NS)
    const conditions = {
      plans,
      lingerNs: LINGER_NS,
      controller: 'completes commands immediately, one thread',
      statistic: 'median',
    }
    const microseconds = { host: middle(byHost), engine: middle(byEngine) }
    const figure = (name: string, value: number, per: string) =>
      context.figure({ name, value, unit: 'microseconds', per, conditions })
    figure(
      'plan-latency-host',
      microseconds.host,
      'a plan of one 4 KiB read, from execute() to its result in JavaScript',
    )
    figure('plan-latency-engine', microseconds.engine, 'a plan of one 4 KiB read, until the host sees its end')
    return microseconds
  },
}

const doorbells: Check = {
  id: 'cpu-doorbells',
  title: 'Commands per second of the engine with doorbells written by the GPU, and by a CPU thread for it',
  limitMs: 60_000,
  async run(context) {
    const commands = Math.min(context.scale.speedCommands, COMMANDS)
    const rateBy = async (doorbells: 'gpu' | 'cpu') => {
      const run = { pairs: 1, commandsPerPair: commands, threads: 1, options: { doorbells } }
      return (await runEngine(context, run)).commandsPerSecond
    }
    const [gpu, cpu] = [await rateBy('gpu'), await rateBy('cpu')]
    const conditions = { queueDepth: DEPTH, commands, gpu: Math.round(gpu), cpu: Math.round(cpu) }
    const per = 'commands/s with doorbells by a CPU thread, to those with doorbells by the GPU'
    context.figure({ name: 'cpu-doorbells-over-direct', value: ratio(cpu, gpu), unit: 'times', per, conditions })
    return conditions
  },
}

/** The engine on a drive that CPU threads serve. */
export const leaderChecks: readonly Check[] = [leaders, latency, doorbells]
