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

test('after a failure, resident layers that are not yet being read are not read', async () => {
  const { memory, image, copies, open, planFor } = await smallRig(Array.from({ length: 30 }, () => 65_536))
  memory.media[image.manifest.layers[0]!.offsetBytes + 5]! ^= 1
  memory.plans.splice(0)
  await expect(open(planFor(['vram']))).rejects.toMatchObject({ code: 'ERR_GPUNVME_VERIFICATION' })
  expect(memory.plans.length).toBeLessThan(5)
  expect([memory.allocatedBytes, copies.allocated.size]).toEqual([0, 0])
})

test('a layer that arrives after its pass was aborted does not count as held', async () => {
  const { copies, open, planFor } = await smallRig()
  const model = await open(planFor(['nvme']))
  const first = model.pass()
  const { value: held } = await first.next()
  await first.return(undefined)
  const gate = closedGate()
  copies.gate = gate.pass
  const abort = new AbortController()
  const waiting = model.pass({ skip: ['layer 0', 'layer 1'], signal: abort.signal }).next()
  await turns(5)
  abort.abort(new Error('another token'))
  await expect(waiting).rejects.toThrow('another token')
  gate.open()
  await turns(20)
  expect(await namesOf(model, { skip: ['layer 0', 'layer 1', 'layer 2'] })).toEqual(namesFrom(3))
  held!.release()
  await model.close()
})

test('the error of held slots states the slots of the lane, without layers that stay on the GPU', async () => {
  const { open, planFor } = await smallRig()
  await using model = await open(planFor(['vram', 'nvme']))
  const greedy = async () => {
    for await (const layer of model.pass()) expect(layer.released).toBe(false)
  }
  await expect(greedy()).rejects.toThrow('No free slot for the next layer: leases hold all 2')
})

describe.each([1, 2] as const)('tier %i', (tier) => {
  test('an error of `onDrift` ends the pass; the next one is complete', async () => {
    const { memory, copies, open, planFor } = await smallRig()
    let calls = 0
    const onDrift = () => {
      calls++
      throw new Error('the callback failed')
    }
    const drift = { windowReads: 2, band: 0 }
    const model = await open(planFor(['nvme'], tier), { withoutGpu: true, drift, onDrift })
    await expect(namesOf(model)).rejects.toThrow('the callback failed')
    for (let pass = 0; pass < 3; pass++) expect(await namesOf(model)).toEqual(namesFrom(0))
    expect(calls).toBe(1)
    await model.close()
    expect([memory.allocatedBytes, copies.allocated.size]).toEqual([0, 0])
  })

  test.each(['vram', 'ram', 'nvme'] as const)('passes include a layer without bytes in %s', async (place) => {
    const { open, planFor } = await smallRig([5000, 0, 5000])
    await using model = await open(planFor([place], tier), { withoutGpu: true })
    for (let pass = 0; pass < 2; pass++) expect(await namesOf(model)).toEqual(namesFrom(0, 3))
    expect(model.statistics.driveBusyNs).toBeGreaterThan(0)
  })
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

test('host memory in place of GPU memory keeps failing by its cause, not by slots', async () => {
  const { open, planFor } = await smallRig()
  await using model = await open(planFor(['nvme'], 2), { onGpu: {} })
  for (let pass = 0; pass < 4; pass++)
    await expect(namesOf(model)).rejects.toThrow('without a GPU, pass { withoutGpu: true }')
})
