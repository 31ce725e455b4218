import { expect, test } from 'vitest'
import { type ResidentLease } from '../../src/residence/index.js'
import { LAYERS } from './machine.js'
import { turns, watched } from './watched.js'

const SLOW_MS = 120_000

const allNames = Array.from({ length: LAYERS }, (_, index) => `layer ${index}`)

async function namesOf(pass: AsyncIterable<ResidentLease>): Promise<string[]> {
  const names: string[] = []
  for await (const layer of pass) {
    names.push(layer.name)
    layer.release()
  }
  return names
}

test(
  'a pass and a second adoption are rejected while a plan is being adopted',
  async () => {
    const rig = await watched()
    const model = await rig.open(rig.planFor(0))
    const held = rig.hold()
    const adopted = model.adopt(rig.planFor(1))
    await held.copying()
    const pass = model.pass()
    await expect(pass.next()).rejects.toThrow(new TypeError('pass: expected no other pass and no adoption in progress'))
    await expect(model.adopt(rig.planFor(0))).rejects.toThrow(TypeError)
    held.open()
    await adopted
    expect(await namesOf(model.pass())).toEqual(allNames)
    await model.close()
    expect(rig.allocated.size).toBe(0)
  },
  SLOW_MS,
)

test.each(['throw', 'wait'] as const)(
  'a pass uses the plan at its first next, not at the call of pass (whenHeld: %s)',
  async (whenHeld) => {
    const rig = await watched()
    const model = await rig.open(rig.planFor(0))
    const pass = model.pass({ whenHeld, skip: ['layer 3'] })
    await model.adopt(rig.planFor(LAYERS))
    const residences: string[] = []
    for await (using layer of pass) residences.push(`${layer.name} in ${layer.residence}`)
    expect(residences).toEqual(allNames.filter((name) => name !== 'layer 3').map((name) => `${name} in vram`))
    await model.close()
  },
  SLOW_MS,
)

test(
  'passes are rejected after a failed adoption until another plan is adopted',
  async () => {
    const rig = await watched()
    const model = await rig.open(rig.planFor(0))
    rig.failWith(new Error('the copy failed'))
    await expect(model.adopt(rig.planFor(1))).rejects.toThrow('the copy failed')
    rig.failWith()
    await expect(model.pass().next()).rejects.toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_PLAN_NOT_ADOPTED' }))
    await model.adopt(rig.planFor(1))
    expect(await namesOf(model.pass())).toEqual(allNames)
    await model.close()
    expect(rig.allocated.size).toBe(0)
  },
  SLOW_MS,
)

test(
  'a copy for the next pass that fails between passes is repeated by that pass',
  async () => {
    const rig = await watched()
    const model = await rig.open(rig.planFor(0))
    for await (const layer of model.pass()) {
      if (layer.index === LAYERS - 1) rig.failWith(new Error('the GPU has had enough'))
      layer.release()
    }
    await turns(50)
    rig.failWith()
    expect(await namesOf(model.pass())).toEqual(allNames)
    await model.close()
  },
  SLOW_MS,
)
