import { equal, NotApplicable, type Check, type Fact } from '../check.js'
import { KIB } from '../context.js'
import { DEPTH, DriveRegion, engineOn, PAIR, rateOf, readsOf } from '../engine-on-drive.js'
import { allSucceeded, ratio } from './transfers.js'

/** Maximum number of CPU threads that serve the queues. */
const THREADS = 12
const MICROSECOND_NS = 1000

const leaders: Check = {
  id: 'leaders',
  title:
    'Commands per second of the engine by number of leaders, which are blocks of one grid with one queue pair each',
  limitMs: 120_000,
  async run(context) {
    const { driveAddon: addon, scale } = context
    if (addon === undefined) throw new NotApplicable('the addon gpunvme_drive was not built')
    const facts: Record<string, Fact> = {}
    for (const count of scale.leaders) {
      const region = new DriveRegion(context, count)
      const threads = Math.min(count, THREADS)
      const stop = region.serve(addon, threads)
      const commands = count * Math.min(scale.speedCommands, 100_000)
      let counts: ReturnType<typeof stop>
      let rate: number
      try {
        const engine = engineOn(context, region)
        const data = region.piece(region.at(0, PAIR.data), DEPTH * 4 * KIB)
        allSucceeded('warm-up', await engine.execute(readsOf(DEPTH * count, count), data))
        const summary = await engine.execute(readsOf(commands, count), data)
        allSucceeded(`reads by ${count} leaders`, summary)
        rate = Math.round(rateOf(summary, commands))
        engine.detach()
      } finally {
        counts = stop()
      }
      equal(`commands received by the drive of ${count} leaders`, counts.commands, commands + DEPTH * count)
      facts[`of ${count}`] = rate
      const conditions = {
        leaders: count,
        queueDepth: DEPTH,
        commands,
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
    const { driveAddon: addon } = context
    if (addon === undefined) throw new NotApplicable('the addon gpunvme_drive was not built')
    const region = new DriveRegion(context, 1)
    const stop = region.serve(addon, 1)
    const plans = 400
    const byHost: number[] = []
    const byEngine: number[] = []
    try {
      const engine = engineOn(context, region)
      const data = region.piece(region.at(0, PAIR.data), DEPTH * 4 * KIB)
      const plan = readsOf(1)
      for (let index = 0; index < plans; index++) {
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
    const conditions = { plans, controller: 'completes commands immediately, one thread', statistic: 'median' }
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
    const { driveAddon: addon, scale } = context
    if (addon === undefined) throw new NotApplicable('the addon gpunvme_drive was not built')
    const commands = Math.min(scale.speedCommands, 100_000)
    const rateBy = async (doorbells: 'gpu' | 'cpu') => {
      const region = new DriveRegion(context, 1)
      const stop = region.serve(addon, 1)
      try {
        const engine = engineOn(context, region, { doorbells })
        const data = region.piece(region.at(0, PAIR.data), DEPTH * 4 * KIB)
        allSucceeded('warm-up', await engine.execute(readsOf(DEPTH), data))
        const summary = await engine.execute(readsOf(commands), data)
        allSucceeded(`reads with doorbells by the ${doorbells}`, summary)
        engine.detach()
        return rateOf(summary, commands)
      } finally {
        stop()
      }
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
