import { expect, test } from 'vitest'
import { type ResidentLease } from '../../src/residence/index.js'
import { smallRig } from './small-rig.js'
import { turns, watched } from './watched.js'

const SLOW_MS = 120_000

test(
  'close during an adoption waits for the copy in flight before it frees memory',
  async () => {
    const rig = await watched()
    const model = await rig.open(rig.planFor(0))
    const held = rig.hold()
    const adopted = expect(model.adopt(rig.planFor(1))).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_GPUNVME_RESIDENCE_CLOSED' }),
    )
    await held.copying()
    const closed = model.close()
    await turns(20)
    expect(rig.allocated.size).toBe(1)
    held.open()
    await closed
    await adopted
    expect(rig.allocated.size).toBe(0)
  },
  SLOW_MS,
)

test(
  'a layer that arrives during close is not leased, and its memory is freed',
  async () => {
    const rig = await watched()
    for (let microtasks = 0; microtasks < 24; microtasks++) {
      const model = await rig.open(rig.planFor(0))
      const held = rig.hold()
      const leases: ResidentLease[] = []
      const passing = model
        .pass({ isLast: true })
        .next()
        .then(
          ({ value }) => void leases.push(value!),
          (error: unknown) => expect(error).toMatchObject({ code: 'ERR_GPUNVME_RESIDENCE_CLOSED' }),
        )
      await held.copying()
      held.open()
      for (let passed = 0; passed < microtasks; passed++) await Promise.resolve()
      await model.close()
      await passing
      expect(leases.every(({ released }) => released)).toBe(true)
      expect(rig.allocated.size).toBe(0)
    }
  },
  SLOW_MS,
)

test('a pass after close reports that the model was closed, even if another pass was not ended', async () => {
  const { open, planFor } = await smallRig()
  const model = await open(planFor(['ram']))
  await model.pass().next()
  await model.close()
  await expect(model.pass().next()).rejects.toMatchObject({ code: 'ERR_GPUNVME_RESIDENCE_CLOSED' })
})

test('a pass rejects an unknown whenHeld', async () => {
  const { open, planFor } = await smallRig()
  const model = await open(planFor(['ram']))
  expect(() => model.pass({ whenHeld: 'Wait' as never })).toThrow(`whenHeld: expected 'throw' or 'wait', got "Wait"`)
  await model.close()
})
