import { plural } from '../../terminal/units.js'
import type { BenchCommand } from '../bench-results.js'
import { unitOf } from '../quantities.js'
import { at } from './marker.js'
import { each, html, type Markup } from './markup.js'
import { areaOf, drawAxes, drawing, type Described, type Drawn, type Size } from './plot.js'
import { linear, linearTicks, type Scale } from './scale.js'

/** Maximum number of distinguishable commands on a page. */
const MAX_DRAWN = 600

interface Lane {
  readonly queue: number
  readonly commands: readonly BenchCommand[]
}

/** Assigns overlapping commands of a queue to lanes: as many as were in flight at once. */
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

/** Draws each command as a bar from submission to completion, by queue. */
export function timelineChart(commands: readonly BenchCommand[], described: Described): Markup {
  const drawn = commands.slice(0, MAX_DRAWN)
  const lanes = lanesOf(drawn)
  const left = commands.length - drawn.length
  return html`${drawing(described, (size) => draw(lanes, size))}${
    left > 0
      ? html`<p class="aside">The first ${plural(drawn.length, 'command')}; ${left} more were recorded.</p>`
      : undefined
  }`
}

/** Gap between the lanes of two queues. */
const GAP = 8
/** Height of a queue's name. */
const NAME_HEIGHT = 15

function draw(lanes: readonly Lane[], size: Size): Drawn {
  const queues = [...new Set(lanes.map(({ queue }) => queue))]
  const laneHeight = Math.min(9, Math.max(1.2, 260 / lanes.length))
  const area = areaOf(size, queues.map(queueName))
  const bottom = area.top + lanes.length * laneHeight + queues.length * GAP
  const maxNs = lanes
    .flatMap(({ commands }) => commands.map(({ endNs }) => endNs))
    .reduce((max, each) => Math.max(max, each), 1)
  const unit = unitOf('time', maxNs)
  const ticks = linearTicks(maxNs / unit.factor, size.name === 'wide' ? 6 : 3)
  const x = linear([0, maxNs], [area.left, area.right - 4])
  const y = (index: number) => area.top + index * laneHeight + (queues.indexOf(lanes[index]!.queue) + 0.5) * GAP
  return {
    height: bottom + 48,
    content: html`${drawAxes({
      area: { ...area, bottom },
      x: ticks
        .map((tick) => ({ at: x(tick * unit.factor), text: String(Number(tick.toPrecision(6))) }))
        .filter(({ at: place }) => place <= area.right),
      y: [],
      xTitle: `time in ${unit.name}, from the first submission`,
      yTitle: 'commands in flight, by queue',
    })}${drawNames(lanes, queues, y, laneHeight, area.left - 8)}${each(lanes, ({ queue, commands }, index) => {
      const parity = queues.indexOf(queue) % 2 === 0 ? 'even' : 'odd'
      return html`<g class="lane ${parity}">
        ${each(commands, (command) => drawCommand(command, x, y(index), laneHeight))}
      </g>`
    })}`,
  }
}

function drawCommand({ startNs, endNs }: BenchCommand, x: Scale, y: number, laneHeight: number): Markup {
  // A small gap between consecutive commands of a lane.
  const width = Math.max(0.5, x(endNs) - x(startNs) - 0.6)
  const height = Math.max(1, laneHeight - 1)
  return html`<rect x="${at(x(startNs))}" y="${at(y)}" width="${at(width)}" height="${at(height)}" />`
}

/** Draws queue names beside their lanes, as many as fit. */
function drawNames(
  lanes: readonly Lane[],
  queues: readonly number[],
  y: (index: number) => number,
  laneHeight: number,
  x: number,
): Markup {
  const names = queues.map((queue) => {
    const rows = lanes.flatMap((lane, index) => (lane.queue === queue ? [y(index)] : []))
    return { at: (rows[0]! + rows.at(-1)! + laneHeight) / 2 + 4, text: queueName(queue) }
  })
  let lastAt = -Infinity
  const shown = names.filter(({ at: place }) => {
    if (place - lastAt < NAME_HEIGHT) return false
    lastAt = place
    return true
  })
  return html`<g class="ticks" text-anchor="end">
    ${each(shown, (name) => html`<text x="${at(x)}" y="${at(name.at)}">${name.text}</text>`)}
  </g>`
}

function queueName(queue: number): string {
  return `queue ${queue}`
}
