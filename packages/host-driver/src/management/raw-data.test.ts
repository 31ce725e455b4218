import {
  Compare,
  DatasetManagement,
  FID,
  Flush,
  GetFeatures,
  Identify,
  Read,
  Verify,
  Write,
  zeroBased,
} from '@gpunvme/nvme-spec'
import { simulate } from '@gpunvme/nvme-sim'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Controller, type ManagedController } from '../controller.js'

let ctrl: ManagedController
let fetched: number

beforeEach(async () => {
  const { transport } = simulate({
    profile: 'sn740',
    trace: ({ name }) => {
      if (name === 'fetch') fetched++
    },
  })
  ctrl = await Controller.open(transport, { write: { serial: 'GPUNVME-SIM-SN740' }, manage: true })
  fetched = 0
})
afterEach(() => ctrl.close())

const values = { NSID: 1, SLBA: 0, NLB: zeroBased(17) }

test.each([['Read', Read] as const, ['Write', Write] as const, ['Compare', Compare] as const])(
  '%s of 17 blocks takes no data of 16, and is not sent',
  async (_name, command) => {
    const memory = ctrl.management.dma.alloc(16_384)
    const short = ctrl.management.submitIo(command, values, { data: { memory, lengthBytes: 8192 } })
    await expect(short).rejects.toThrow('expected data of 8704 bytes for its 17 blocks, got 8192')
    const late = ctrl.management.submitIo(command, values, { data: { memory, offsetBytes: 8192 } })
    await expect(late).rejects.toThrow('got 8192')
    expect(fetched).toBe(0)
    await ctrl.management.submitIo(Read, values, { data: { memory, lengthBytes: 8704 } })
    expect(fetched).toBe(1)
  },
)

test('a command that transfers data is not sent without data, since its PRP1 would be address 0', async () => {
  const { management } = ctrl
  await expect(management.submitIo(Read, values)).rejects.toThrow('Read: expected { data: { memory } }')
  await expect(management.submitIo(DatasetManagement, { NSID: 1 })).rejects.toThrow(TypeError)
  await expect(management.submitAdmin(Identify, { CNS: 1 })).rejects.toThrow('Identify: expected { data: { memory } }')
  expect(fetched).toBe(0)
})

test('a command without a transfer needs no data, nor does one whose fields determine whether it transfers any', async () => {
  const { management } = ctrl
  expect((await management.submitIo(Flush, { NSID: 1 })).status.sc).toBe(0)
  expect((await management.submitIo(Verify, values)).status.sct).toBe(0)
  expect((await management.submitAdmin(GetFeatures, { FID: FID.NUMBER_OF_QUEUES })).status.sc).toBe(0)
})
