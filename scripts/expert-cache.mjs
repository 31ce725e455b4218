// The worked example of packages/layer-loader/docs/experts.md: hit rates of an LRU cache of experts over generated
// router traces, and the tokens per second that `planExperts` predicts with them. Deterministic: uses a fixed seed and
// no clock.
//
//   node scripts/expert-cache.mjs            print the tables
//   node scripts/expert-cache.mjs --write    update them in the document
import { expertLayers, planExperts } from '@gpunvme/layer-loader/residence'
import { openModelParts } from '@gpunvme/layer-loader/formats'
import { costModel } from '@gpunvme/nvme-sim'
import { payloadLimit } from '@gpunvme/nvme-spec/pcie'
import { readFileSync, writeFileSync } from 'node:fs'
import { EXPERTS_USED, mixtral8x22b } from '../packages/layer-loader/bench/lib/mixtral-8x22b.mjs'

const GIB = 2 ** 30
const SEED = 27
const TOKENS = 2000
/** Tokens that fill the cache and are not counted. */
const WARM_UP = 500
const ZIPF_EXPONENT = 1
const VRAM_BYTES = 24 * GIB
const RAM_BYTES = [16, 32, 64, 128, 192, 224].map((gib) => gib * GIB)
const DRIVES = ['sn740', '990pro']
/** Checksums on one thread: Node's zlib as measured in packages/cuda-native/README.md. */
const CHECKED_BYTES_PER_NS = 5
/** Copies at the limit of Gen4 x16, in bytes/ns. */
const LINK_BYTES_PER_NS = payloadLimit({ gen: 4, width: 16, mps: 256 }) / 1e9

const DOCUMENT = new URL('../packages/layer-loader/docs/experts.md', import.meta.url)
const [START, END] = ['<!-- tables -->\n', '<!-- end of tables -->']

/**
 * Returns pseudo-random numbers from 0 to 1, exclusive: a 32-bit xorshift (Marsaglia 2003) with shifts 13, 17 and 5.
 */
function randomFrom(seed) {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/**
 * Yields the experts of each layer of each token, `layers.length × EXPERTS_USED` a token, as numbers that are unique in
 * the model. Each layer has its own order of popularity; the expert of rank r has the weight r^-exponent. Tokens are
 * independent.
 */
function* routerTrace(layers, exponent, random) {
  let first = 0
  const routed = layers.map(({ experts }) => {
    const popularity = Array.from({ length: experts }, (_, index) => first + index)
    for (let index = experts - 1; index > 0; index--) {
      const other = Math.floor(random() * (index + 1))
      ;[popularity[index], popularity[other]] = [popularity[other], popularity[index]]
    }
    first += experts
    return popularity
  })
  for (let token = 0; token < TOKENS; token++) {
    for (const popularity of routed) {
      const weights = popularity.map((_, rank) => (rank + 1) ** -exponent)
      for (let used = 0; used < EXPERTS_USED; used++) {
        // A router never chooses the same expert twice: chosen ones get weight 0.
        let point = random() * weights.reduce((sum, weight) => sum + weight, 0)
        let rank = weights.findIndex((weight) => (point -= weight) < 0)
        if (rank < 0) rank = weights.findLastIndex((weight) => weight > 0)
        weights[rank] = 0
        yield { token, expert: popularity[rank] }
      }
    }
  }
}

/** Returns the hit rate of an LRU cache of `places` experts over a trace, without the warm-up. */
function hitRateOf(trace, places) {
  // A Map keeps the order of insertion: its first key is the least recently used one.
  const cached = new Map()
  let [hits, uses] = [0, 0]
  for (const { token, expert } of trace) {
    const isHit = cached.delete(expert)
    if (token >= WARM_UP) {
      uses++
      if (isHit) hits++
    }
    cached.set(expert, true)
    if (cached.size > places) cached.delete(cached.keys().next().value)
  }
  return hits / uses
}

/** Returns the hit rate of a cache that holds the `places` experts that the warm-up used most. */
function pinnedHitRateOf(trace, places) {
  const uses = new Map()
  for (const { token, expert } of trace) if (token < WARM_UP) uses.set(expert, (uses.get(expert) ?? 0) + 1)
  const byUse = [...uses].sort(([a, aUses], [b, bUses]) => bUses - aUses || a - b)
  const pinned = new Set(byUse.slice(0, places).map(([expert]) => expert))
  const counted = trace.filter(({ token }) => token >= WARM_UP)
  return counted.filter(({ expert }) => pinned.has(expert)).length / counted.length
}

async function tables() {
  const model = await openModelParts('model.safetensors.index.json', mixtral8x22b().open)
  const layers = expertLayers(model)
  const parts = model.parts.length
  await model.close()
  const routed = layers.filter(({ experts }) => experts > 0)
  const traces = [
    ['uniform', [...routerTrace(routed, 0, randomFrom(SEED))]],
    [`Zipf ${ZIPF_EXPONENT}`, [...routerTrace(routed, ZIPF_EXPONENT, randomFrom(SEED))]],
  ]
  const planFor = (drive, ramBytes, hitRate) =>
    planExperts(layers, {
      budget: { vramBytes: VRAM_BYTES, ramBytes },
      tier: 1,
      cost: { ...costModel(drive), copyNs: (bytes) => bytes / LINK_BYTES_PER_NS },
      costFrom: `preset ${drive}`,
      checkNs: (bytes) => bytes / CHECKED_BYTES_PER_NS,
      expertsUsed: EXPERTS_USED,
      hitRate,
    })
  const { experts, expertsBytes, dense, slots, tokenBytes } = planFor(DRIVES[0], RAM_BYTES[0], 0)
  const gib = (bytes) => `${(bytes / GIB).toFixed(2)} GiB`
  const lines = [
    ...table(
      ['59 shards', ''],
      [
        ['files, layers', `${parts}, ${layers.length}`],
        ['routed experts', `${experts} of ${gib(routed[0].expertBytes)}, ${gib(expertsBytes)} in all`],
        ['dense part, which stays on the GPU', gib(dense.vram.layerBytes)],
        ['slots', `${gib(slots.vramBytes)} of GPU memory, ${gib(slots.ramBytes)} of host memory`],
        [`experts of a token, ${EXPERTS_USED} in each layer`, gib(tokenBytes)],
      ],
    ),
  ]
  for (const drive of DRIVES) {
    const rows = RAM_BYTES.flatMap((ramBytes) =>
      traces.map(([name, trace]) => {
        const places = planFor(drive, ramBytes, 0).cache.experts
        const hitRate = hitRateOf(trace, places)
        const plan = planFor(drive, ramBytes, hitRate)
        const { firstNs, passNs, sustained, verified } = plan.predicted
        const seconds = (ns) => (ns / 1e9).toFixed(2)
        return [
          `${ramBytes / GIB} GiB`,
          String(places),
          name,
          hitRate.toFixed(3),
          pinnedHitRateOf(trace, places).toFixed(3),
          gib(plan.readBytes),
          `${seconds(firstNs)} s`,
          `${seconds(passNs)} s, ${(1e9 / passNs).toFixed(3)}/s`,
          sustained === undefined ? '-' : `${seconds(sustained.passNs)} s after ${seconds(sustained.afterNs)} s`,
          `${seconds(verified.passNs)} s, ${(1e9 / verified.passNs).toFixed(3)}/s`,
        ]
      }),
    )
    lines.push(
      '',
      `Drive: the preset \`${drive}\`.`,
      '',
      ...table(
        [
          'host memory',
          'experts cached',
          'trace',
          'LRU hits',
          'pinned hits',
          'read per token',
          'first token',
          'later tokens',
          'throttled',
          'verified',
        ],
        rows,
      ),
    )
  }
  return `\n${lines.join('\n')}\n\n`
}

function table(titles, rows) {
  return [titles, titles.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
}

const text = await tables()
if (process.argv.includes('--write')) {
  const page = readFileSync(DOCUMENT, 'utf8')
  const [before, rest] = page.split(START)
  writeFileSync(DOCUMENT, `${before}${START}${text}${END}${rest.split(END)[1]}`)
} else process.stdout.write(text)
