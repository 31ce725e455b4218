import { plural } from '../../terminal/units.js'
import type { BenchCommand } from '../bench-results.js'
import { formatQuantity } from '../quantities.js'
import { at } from './marker.js'
import { each, html, type Markup } from './markup.js'
import { areaOf, drawAxes, drawing, type Described, type Size } from './plot.js'
import { linear, linearTicks } from './scale.js'

/** More than these are not told apart on a page. */
const MOST_DRAWN = 600

interface Lane {
  readonly queue: number
  readonly commands: readonly BenchCommand[]
}

/** Commands of a queue that overlap in time lie below each other: its lanes are as many as were in flight at once. */
export function lanesOf(commands: readonly BenchCommand[]): Lane[] {
  const lanes: { queue: number; commands: BenchCommand[]; endNs: number }[] = []
  for (const command of commands) {
    const free = lanes.find(({ queue, endNs }) => queue === command.queue && endNs <= command.startNs)
    if (free === undefined) lanes.push({ queue: command.queue, commands: [command], endNs: command.endNs })
    else {
      free.commands.push(command)
      free.endNs = command.endNs
    }
  }
  return lanes.sort((a, b) => a.queue - b.queue)
}

/** Each command as a bar from its submission to its completion, queue by queue. */
export function timelineChart(commands: readonly BenchCommand[], described: Described): Markup {
  const drawn = commands.slice(0, MOST_DRAWN)
  const lanes = lanesOf(drawn)
  const left = commands.length - drawn.length
  return html`${drawing(described, (size) => draw(lanes, size))}${
    left > 0
      ? html`<p class="aside">The first ${plural(drawn.length, 'command')}; ${left} more were recorded.</p>`
      : undefined
  }`
}

const GAP = 8

function draw(lanes: readonly Lane[], size: Size) {
  const queues = [...new Set(lanes.map(({ queue }) => queue))]
  const laneHeight = Math.min(9, Math.max(1.2, 260 / lanes.length))
  const area = areaOf(size, queues.map(queueName))
  const data = lanes.length * laneHeight + queues.length * GAP
  const bottom = area.top + data
  const mostNs = Math.max(1, ...lanes.flatMap(({ commands }) => commands.map(({ endNs }) => endNs)))
  const [unitNs, unit] = mostNs >= 1e9 ? [1e9, 's'] : mostNs >= 1e6 ? [1e6, 'ms'] : [1e3, 'µs']
  const ticks = linearTicks(mostNs / unitNs, size.name === 'wide' ? 6 : 3)
  const x = linear([0, mostNs], [area.left, area.right - 4])
  const yOf = (index: number) => area.top + index * laneHeight + (queues.indexOf(lanes[index]!.queue) + 0.5) * GAP
  return {
    height: bottom + 48,
    content: html`${drawAxes({
        area: { ...area, bottom },
        x: ticks
          .filter((tick) => tick * unitNs <= mostNs)
          .map((tick) => ({ at: x(tick * unitNs), text: String(Number(tick.toPrecision(6))) })),
        y: [],
        xTitle: `time in ${unit}, from the first submission`,
        yTitle: `in flight, up to ${lanes.length} at once`,
      })}
      <g class="ticks" text-anchor="end"
        >${each(queues, (queue) => {
          const rows = lanes.flatMap((lane, index) => (lane.queue === queue ? [yOf(index)] : []))
          return html`<text x="${at(area.left - 8)}" y="${at((rows[0]! + rows.at(-1)! + laneHeight) / 2 + 4)}"
            >${queueName(queue)}</text
          >`
        })}</g
      >
      ${each(
        lanes,
        ({ queue, commands }, index) =>
          html`<g class="lane ${queues.indexOf(queue) % 2 === 0 ? 'even' : 'odd'}"
            >${each(
              commands,
              ({ startNs, endNs, bytes }) =>
                html`<rect
                  x="${at(x(startNs))}"
                  y="${at(yOf(index))}"
                  width="${at(Math.max(0.5, x(endNs) - x(startNs) - 0.6))}"
                  height="${at(Math.max(1, laneHeight - 1))}"
                  rx="1"
                  ><title>${bytes} bytes in ${formatQuantity('time', endNs - startNs)}</title></rect
                >`,
            )}</g
          >`,
      )}`,
  }
}

function queueName(queue: number): string {
  return `queue ${queue}`
}
