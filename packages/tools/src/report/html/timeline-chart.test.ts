import { expect, test } from 'vitest'
import { lanesOf } from './timeline-chart.js'

const command = (queue: number, startNs: number, endNs: number) => ({ queue, startNs, endNs, bytes: 4096 })

test('lanesOf separates overlapping commands of a queue, and reuses free lanes', () => {
  const commands = [command(1, 0, 10), command(2, 0, 5), command(1, 5, 20), command(1, 10, 30), command(2, 6, 7)]
  expect(lanesOf(commands)).toEqual([
    { queue: 1, commands: [commands[0], commands[3]], endNs: 30 },
    { queue: 1, commands: [commands[2]], endNs: 20 },
    { queue: 2, commands: [commands[1], commands[4]], endNs: 7 },
  ])
})
