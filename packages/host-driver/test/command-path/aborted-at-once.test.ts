import { simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

test('does not send a read that is aborted in the turn of its call', async () => {
  const simulation = simulate({ profile: 'ideal' })
  const ctrl = await Controller.open(simulation.transport)
  const ns = ctrl.namespace(1)
  const aborting = new AbortController()
  const reading = ns.read(0, 8, ns.dma.alloc(4096), { signal: aborting.signal })
  aborting.abort(new Error('no longer needed'))
  await expect(reading).rejects.toThrow('no longer needed')
  expect(ctrl.statistics).toMatchObject({ bytes: 0 })
  expect(simulation.statistics.ioCommands).toEqual({})
  await ctrl.close()
})
