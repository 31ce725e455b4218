import type { CopyEngine, DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { openResidence, planResidence, ResidenceClosedError, type ResidentLease } from '../../src/index.js'
import { cost, LAYER_BYTES, machine } from './machine.js'

const SLOW_MS = 120_000

const turns = async (count: number) => {
  for (let passed = 0; passed < count; passed++) await new Promise(setImmediate)
}

/** A machine whose copies can be held back, and which knows what its copy engine has allocated. */
async function watched() {
  const rig = await machine()
  const engine: CopyEngine = rig.copies
  const allocated = new Set<DeviceMemory>()
  let gate: Promise<void> = Promise.resolve()
  let heldCopies = 0
  const copies: CopyEngine = {
    alloc(lengthBytes) {
      const memory = engine.alloc(lengthBytes)
      const free = memory.free.bind(memory)
      allocated.add(memory)
      return Object.assign(memory, {
        free() {
          free()
          allocated.delete(memory)
        },
      })
    },
    async copy(...copy) {
      await engine.copy(...copy)
      heldCopies++
      await gate
      heldCopies--
    },
  }
  /** From now on no copy ends until `open` is called. */
  const hold = () => {
    let open = (): void => undefined
    gate = new Promise((resolve) => (open = resolve))
    return {
      open,
      async copying() {
        while (heldCopies === 0) await turns(1)
      },
    }
  }
  /** In tier 1: so many layers on the GPU, the others on the drive. */
  const planFor = (onGpu: number) => {
    const slots = { copies: 2, drive: 2 }
    const budget = { vramBytes: (onGpu + slots.copies) * LAYER_BYTES, ramBytes: slots.drive * LAYER_BYTES }
    return planResidence(rig.layers, { budget, tier: 1, slots, cost, costFrom: 'measured' })
  }
  return { ...rig, copies, allocated, hold, planFor }
}

test(
  'closing while a plan is adopted frees nothing before the copy has settled, and everything then',
  async () => {
    const rig = await watched()
    const model = await openResidence(rig.planFor(0), rig)
    const held = rig.hold()
    const adopted = expect(model.adopt(rig.planFor(1))).rejects.toThrow(ResidenceClosedError)
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
  'a layer that arrives as the model is closed is lent to nobody, and its memory given back, whichever comes first',
  async () => {
    const rig = await watched()
    for (let microtasks = 0; microtasks < 24; microtasks++) {
      const model = await openResidence(rig.planFor(0), rig)
      const held = rig.hold()
      const leases: ResidentLease[] = []
      const passing = model
        .pass({ isLast: true })
        .next()
        .then(
          ({ value }) => void leases.push(value!),
          (error: unknown) => expect(error).toBeInstanceOf(ResidenceClosedError),
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
