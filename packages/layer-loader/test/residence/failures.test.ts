import { describe, expect, test } from 'vitest'
import { zlibChecksummer } from '../../src/index.js'
import type { PassOptions, ResidentModel } from '../../src/residence/index.js'
import { smallRig } from './small-rig.js'
import { turns } from './watched.js'

async function namesOf(model: ResidentModel, options?: PassOptions): Promise<string[]> {
  const names: string[] = []
  for await (using layer of model.pass(options)) names.push(layer.name)
  return names
}

const namesFrom = (first: number, layers = 8) =>
  Array.from({ length: layers - first }, (_, index) => `layer ${first + index}`)

/** A gate that stays closed until `open` is called. */
function closedGate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open, pass: () => opened }
}

test('concurrent calls of `close` free no memory before copies in flight have ended', async () => {
  const { copies, memory, open, planFor } = await smallRig()
  const model = await open(planFor(['ram']))
  const gate = closedGate()
  copies.gate = gate.pass
  const passing = expect(model.pass().next()).rejects.toMatchObject({ code: 'ERR_GPUNVME_RESIDENCE_CLOSED' })
  await turns(5)
  expect(copies.count).toBe(2)
  const closed = Promise.all([model.close(), model.close()])
  await turns(10)
  gate.open()
  await closed
  await passing
  expect(copies.problems).toEqual([])
  expect([memory.allocatedBytes, copies.allocated.size]).toEqual([0, 0])
})

test('a failed checksum of host memory fails only the passes that need it', async () => {
  const { open, planFor } = await smallRig()
  let isFailing = false
  const checksummer = {
    name: 'failing',
    checksum: (...call: Parameters<typeof zlibChecksummer.checksum>) =>
      isFailing ? Promise.reject(new Error('out of threads')) : zlibChecksummer.checksum(...call),
  }
  await using model = await open(planFor(['ram']), { verify: 'off', checksummer })
  isFailing = true
  await expect(namesOf(model, { isLast: true })).rejects.toThrow('out of threads')
  isFailing = false
  // Copies ahead may have failed.
  await namesOf(model, { isLast: true }).catch(() => undefined)
  expect(await namesOf(model)).toEqual(namesFrom(0))
})
