import { simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { Controller } from '../controller.js'
import type { ControllerEvent } from './controller-event.js'

test('a critical warning that lasts is told once, and another besides it once too', async () => {
  const simulation = simulate({ profile: 'ideal' })
  const ctrl = await Controller.open(simulation.transport)
  const seen: ControllerEvent[] = []
  const watching = (async () => {
    for await (const event of ctrl.events()) seen.push(event)
  })()
  const pass = async () => {
    for (let read = 0; read < 20; read++) await ctrl.namespace(1).readBytes(0, 512)
    await ctrl.smartLog()
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  // Available Spare below its threshold: bit 0 of the Critical Warning (Base 2.1 Figure 207).
  simulation.setHealth({ availableSparePercent: 9 })
  await pass()
  // Composite Temperature at or above the critical one: bit 1.
  simulation.setHealth({ temperatureKelvins: 400 })
  await pass()
  await ctrl.close()
  await watching
  expect(seen.map((event) => (event.kind === 'health' ? event.criticalWarning : event))).toEqual([1, 3])
})
