import { equal, type Check } from '../check.js'
import { content } from '../content.js'
import type { CheckContext } from '../context.js'
import { expertModel, routed, sumOfExpert, type ExpertModel } from '../expert-model.js'
import { openDeviceLoop } from './expert-fetch-by-device.js'
import { HOST_WAITS, openHostLoop } from './expert-fetch-by-host.js'
import { ratio } from '../report.js'

const SHAPE = { queues: 4, queueEntries: 64, queueDepth: 48 }
/** Opcode of Read in the NVM Command Set. */
const READ = 2
/** Values of `gnv_fetch_ending`. */
const VERIFIED = 1
const READ_FAILED = 3

function modelOf({ scale }: CheckContext): { readonly media: Uint8Array; readonly model: ExpertModel } {
  const media = content(scale.kernelDriveBytes, 18)
  return { media, model: expertModel(media, scale.model.layers, scale.model.experts) }
}

/** Runs `work`, and appends its time by the host's clock to `times`, in microseconds per layer. */
async function timed<T>(times: number[], layers: number, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now()
  const result = await work()
  times.push((1000 * (performance.now() - startMs)) / layers)
  return result
}

/** Returns the median without the first time, which includes one-time work. */
function median(times: readonly number[]): number {
  const counted = times.slice(1).sort((a, b) => a - b)
  return counted[Math.floor(counted.length / 2)]!
}

const fetched: Check = {
  id: 'expert-fetch',
  title: 'GPU kernels route, read, verify and sum the experts of all layers with one host wait per token',
  limitMs: 120_000,
  async run(context) {
    const { tokens } = context.scale
    const { layers, positions } = context.scale.model
    const { media, model } = modelOf(context)
    const byDevice = await openDeviceLoop(context, media, model, SHAPE)
    const byHost = await openHostLoop(context, media, model, SHAPE)
    const all = [...model.layers.keys()]
    const times = { device: [] as number[], host: [] as number[], reads: [] as number[] }
    for (let token = 0; token <= tokens; token++) {
      const expected = all.map((layer) =>
        routed(token * layers + layer, context.scale.model).map((expert) => {
          return { expert, ending: VERIFIED, sum: sumOfExpert(model.layers[layer]![expert]!) }
        }),
      )
      const device = await timed(times.device, layers, () => byDevice.replay(all))
      equal(`token ${token}: experts, endings and sums of each layer`, device, expected)
      await timed(times.host, layers, () => byHost.token())
      const sums = expected.map((layer) => layer.map(({ expert, sum }) => ({ expert, sum })))
      equal(`token ${token}: experts and sums of each layer, through the host`, byHost.results(), sums)
      times.reads.push((await byHost.readsNs()) / 1000 / layers)
    }
    await byDevice.expectNoMistakes()
    await byHost.expectDetected()
    await byHost.expectNoMistakes()
    reportTimes(context, model, median(times.device), median(times.host), median(times.reads))
    return { tokens, layers, fetched: (tokens + 1) * layers * positions }
  },
}

/** Records medians, in microseconds per layer. */
function reportTimes(context: CheckContext, { table }: ExpertModel, device: number, host: number, reads: number): void {
  const { scale } = context
  const shared = {
    ...{ ...scale.model, extents: table.maxExtents, extentBytes: '4096 to 12287', ...SHAPE, tokens: scale.tokens },
    ...{ controller: 'simulated, one thread', data: 'pinned host memory' },
  }
  const time = (name: string, value: number, per: string, conditions: Readonly<Record<string, string>>) =>
    context.figure({ name, value, unit: 'microseconds', per, conditions: { ...shared, ...conditions } })
  const layer = 'one layer, by the host clock: time of a token divided by the number of layers'
  time('expert-fetch-layer', device, layer, {
    ...{ loop: 'one CUDA graph per layer: route, fetch, sum', hostWaits: '1 per token' },
  })
  time('expert-fetch-layer-through-host', host, layer, { loop: 'Node, with the engine cuda', ...HOST_WAITS })
  time('expert-fetch-reads', reads, 'the reads of one layer alone, with the same plan and the engine cuda', {
    timeIncludes: 'posting the plan, until the host sees its end',
  })
  context.figure({
    ...{ name: 'expert-fetch-over-host', value: ratio(host, device), unit: 'times' },
    per: 'time of a layer through the host divided by its time without the host',
    conditions: { ...shared, device, host, reads },
  })
}

const unanswered: Check = {
  id: 'expert-fetch-unanswered',
  title:
    'A lost read of a fetch fails its expert at the time limit, the others are verified, and the next fetch fails immediately',
  limitMs: 60_000,
  injectsFaults: true,
  async run(context) {
    const { media, model } = modelOf(context)
    const [faulty, extent] = [2, 1]
    const chosen = routed(0, context.scale.model)
    // A block that belongs to this extent only.
    const block = model.layers[0]![chosen[faulty]!]![extent]!.firstBlock + 2
    const rules = [
      { match: { opcode: READ, lba: [block, block], times: 1 }, action: { kind: 'drop-completion' } },
    ] as const
    const timeoutNs = 1_000_000_000
    const { fetch, replay } = await openDeviceLoop(context, media, model, SHAPE, { faults: { rules }, timeoutNs })
    const startMs = performance.now()
    const [first] = await replay([0])
    const tookMs = Math.round(performance.now() - startMs)
    const failed = { expert: chosen[faulty]!, ending: READ_FAILED, sum: 0 }
    const expected = chosen.map((expert, position) =>
      position === faulty ? failed : { expert, ending: VERIFIED, sum: sumOfExpert(model.layers[0]![expert]!) },
    )
    equal('experts, endings and sums', first, expected)
    const result = fetch.results()[faulty]!
    equal('the lost read', [result.read.ending, result.extent], ['timeout', extent])
    const nextMs = performance.now()
    await replay([1])
    const endings = fetch.results().map(({ ending, read }) => `${ending} ${read.ending}`)
    equal('the next fetch', [...new Set(endings)], ['read-failed halted'])
    return { timeoutMs: timeoutNs / 1e6, tookMs, nextTookMs: Math.round(performance.now() - nextMs) }
  },
}

/** Fetches of experts by kernels, compared with fetches through the host. */
export const expertFetchChecks: readonly Check[] = [fetched, unanswered]
