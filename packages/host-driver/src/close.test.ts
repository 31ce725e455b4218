import { simulate } from '@gpunvme/nvme-sim'
import type { FaultMatch } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from './controller.js'

const CC = 0x14
const SHN = 0xc000
const DELETE_IO_CQ = 0x04

test.each<readonly [when: string, match: FaultMatch]>([
  ['while close deletes the last queue', { qid: 0, opcode: DELETE_IO_CQ, nth: 2 }],
  ['right before the shutdown notification', { register: 'CC', access: 'read', nth: 2 }],
])('does not shut down a controller that is reset %s, which can be opened again', async (_when, match) => {
  const faults = { rules: [{ match, action: { kind: 'surprise-reset' } }] } as const
  const simulation = simulate({ profile: 'ideal', faults })
  const { transport } = simulation
  const configurations: number[] = []
  const write32 = transport.bar.write32.bind(transport.bar)
  transport.bar.write32 = (offset, value) => {
    if (offset === CC) configurations.push(value)
    write32(offset, value)
  }
  const ctrl = await Controller.open(transport, { write: { serial: 'GPUNVME-SIM-1' } })
  await expect(ctrl.close()).rejects.toMatchObject({ code: 'ERR_GPUNVME_SHUTDOWN_INCOMPLETE' })
  expect(configurations.filter((value) => (value & SHN) !== 0)).toEqual([])
  const again = await Controller.open(transport)
  await again.smartLog()
  await again.close()
  expect(simulation.diagnostics).toEqual([])
})
