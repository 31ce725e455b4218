import { rate, time } from './format.js'
import type { DriveRun } from './run-drive.js'
import type { QueueState } from './timeline.js'

const HEIGHT = 260
const LEFT = 44
const RIGHT = 12
const RATE = { top: 26, bottom: 138 }
const DEPTH = { top: 172, bottom: 232 }
const BINS = 80

/** Bytes per second in equal parts of the run. A command's bytes count evenly over the time since the completion before it. */
export function rates({ states, startNs, endNs, commandBytes }: DriveRun): number[] {
  const width = (endNs - startNs) / BINS
  const bytes = new Array<number>(BINS).fill(0)
  let fromNs = startNs
  let done = 0
  for (const { timeNs, completed } of states) {
    if (completed <= done) continue
    const moved = (completed - done) * commandBytes
    const spanNs = Math.max(1, timeNs - fromNs)
    for (let at = fromNs; at < timeNs;) {
      const bin = Math.min(BINS - 1, Math.floor((at - startNs) / width))
      const next = Math.min(timeNs, Math.max(at + 1, startNs + (bin + 1) * width))
      bytes[bin]! += (moved * (next - at)) / spanNs
      at = next
    }
    fromNs = timeNs
    done = completed
  }
  return bytes.map((each) => (each / width) * 1e9)
}

/** Draws throughput over commands in flight, as SVG of `width` pixels. */
export function drawChart(run: DriveRun, width: number): string {
  const { startNs, endNs, states, queueDepth, payloadLimit, faultNs, events } = run
  const x = (timeNs: number) => LEFT + ((timeNs - startNs) / (endNs - startNs)) * (width - LEFT - RIGHT)
  const top = payloadLimit * 1.05
  const yRate = (value: number) => RATE.bottom - (value / top) * (RATE.bottom - RATE.top)
  const yDepth = (count: number) => DEPTH.bottom - (count / queueDepth) * (DEPTH.bottom - DEPTH.top)
  const binNs = (endNs - startNs) / BINS
  const line = rates(run).map(
    (value, bin) => `${point(x(startNs + bin * binNs), yRate(value))} H${x(startNs + (bin + 1) * binNs).toFixed(1)}`,
  )
  const faultTimes = faultNs === undefined ? [] : [faultNs]
  const marks = [...faultTimes, ...events.map(({ timeNs }) => timeNs)]
  return [
    `<svg viewBox="0 0 ${width} ${HEIGHT}" height="${HEIGHT}" aria-hidden="true">`,
    `<text x="${LEFT}" y="16">Throughput, GB/s; dashed: payload limit ${rate(payloadLimit)}</text>`,
    `<path class="grid" d="M${LEFT},${RATE.bottom} H${width - RIGHT} M${LEFT},${DEPTH.bottom} H${width - RIGHT}"/>`,
    `<path class="limit" d="M${LEFT},${yRate(payloadLimit).toFixed(1)} H${width - RIGHT}"/>`,
    label(yRate(payloadLimit), (payloadLimit / 1e9).toFixed(1)),
    label(RATE.bottom, '0'),
    `<path class="rate" d="M${line.join(' L')}"/>`,
    `<text x="${LEFT}" y="${DEPTH.top - 10}">Commands: in the drive (amber), in the queue (blue)</text>`,
    area(
      'area-drive',
      states,
      x,
      yDepth,
      ({ inDrive }) => inDrive,
      () => 0,
    ),
    area(
      'area-sq',
      states,
      x,
      yDepth,
      ({ submitted, inDrive }) => submitted + inDrive,
      ({ inDrive }) => inDrive,
    ),
    label(DEPTH.top, String(queueDepth)),
    label(DEPTH.bottom, '0'),
    ...marks.map((at) => `<path class="mark" d="M${x(at).toFixed(1)},${RATE.top} V${DEPTH.bottom}"/>`),
    `<text x="${LEFT}" y="${HEIGHT - 8}">0</text>`,
    `<text x="${width - RIGHT}" y="${HEIGHT - 8}" text-anchor="end">${time(endNs - startNs)}, virtual time</text>`,
    `<path class="now" id="now" d="M${width - RIGHT},${RATE.top} V${DEPTH.bottom}"/>`,
    '</svg>',
  ].join('')
}

/** Moves the line that marks the time of the replay. */
export function moveNow(chart: Element, part: number, width: number): void {
  const x = (LEFT + part * (width - LEFT - RIGHT)).toFixed(1)
  chart.querySelector('#now')?.setAttribute('d', `M${x},${RATE.top} V${DEPTH.bottom}`)
}

const point = (x: number, y: number) => `${x.toFixed(1)},${y.toFixed(1)}`
const label = (y: number, text: string) =>
  `<text x="${LEFT - 6}" y="${(y + 4).toFixed(1)}" text-anchor="end">${text}</text>`

type Count = (state: QueueState) => number

/** The area between two counts. Of the states within a pixel, the last is drawn. */
function area(name: string, states: readonly QueueState[], x: Scale, y: Scale, upper: Count, lower: Count): string {
  const kept = states.filter(({ timeNs }, index) => {
    const next = states[index + 1]
    return next === undefined || Math.floor(x(next.timeNs) * 2) !== Math.floor(x(timeNs) * 2)
  })
  if (kept.length === 0) return ''
  const steps = (count: Count) =>
    kept.map((state, index) => {
      const from = point(x(state.timeNs), y(count(state)))
      const next = kept[index + 1]
      return next === undefined ? [from] : [from, point(x(next.timeNs), y(count(state)))]
    })
  const above = steps(upper).flat()
  const below = steps(lower).flat().reverse()
  return `<path class="${name}" d="M${[...above, ...below].join(' L')} Z"/>`
}

type Scale = (value: number) => number
