import { simulate } from '@gpunvme/nvme-sim'
import { describe, expect, test } from 'vitest'
import { Controller } from '../controller.js'
import { faulty } from '../wrap/faulty.js'

/** Returns a simulated drive that loses the first write to a register. */
const losing = (register: string) =>
  faulty(simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }] }).transport, {
    rules: [{ match: { register, nth: 1 }, action: { kind: 'lose-write' } }],
  })

/** Returns a simulated drive with a register that reads as `value` from the nth read on. */
const reading = (register: string, value: number, nth: number) =>
  faulty(simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }] }).transport, {
    rules: [{ match: { register, nth, every: 1 }, action: { kind: 'read-value', value } }],
  })

describe('bring-up', () => {
  test.each(['AQA', 'ASQ'])('leaves a controller that did not store %s disabled', async (register) => {
    const transport = losing(register)
    await expect(Controller.open(transport)).rejects.toMatchObject({ code: 'ERR_GPUNVME_ADMIN_QUEUE_REGISTERS' })
    expect(transport.bar.read32(0x14) & 1).toBe(0)
  })

  test.each([1, 2, 3])('reports a lost controller if CSTS reads all ones from read %i on', async (nth) => {
    await expect(Controller.open(reading('CSTS', 0xffff_ffff, nth))).rejects.toMatchObject({
      code: 'ERR_GPUNVME_DEVICE_LOST',
      csts: 0xffff_ffff,
    })
  })

  test.each([
    ['CAP', 1],
    ['CAP', 2],
    ['ASQ', 2],
    ['ACQ', 2],
  ])('reports a lost controller if of %s only dword read %i reads all ones', async (register, nth) => {
    const action = { kind: 'read-value', value: 0xffff_ffff } as const
    const { transport } = simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }] })
    const halved = faulty(transport, { rules: [{ match: { register, access: 'read', nth }, action }] })
    await expect(Controller.open(halved)).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  })
})
