import type { CopyEngine, DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { planResidence, type ResidencePlan } from '../../src/residence/index.js'
import { cost, LAYER_BYTES, machine } from './machine.js'

export const turns = async (count: number) => {
  for (let passed = 0; passed < count; passed++) await new Promise(setImmediate)
}

/** A machine whose copies can be held back, and which knows what its copy engine has allocated. */
export async function watched() {
  const rig = await machine()
  const engine: CopyEngine = rig.copies
  const allocated = new Set<DeviceMemory>()
  let gate: Promise<void> = Promise.resolve()
  let failure: Error | undefined
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
      if (failure !== undefined) throw failure
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
  /** From now on copies end with this error; with none again when nothing is given. */
  const failWith = (error?: Error) => void (failure = error)
  /** In tier 1: so many layers on the GPU, the others on the drive. */
  const planFor = (onGpu: number) => {
    const slots = { copies: 2, drive: 2 }
    const budget = { vramBytes: (onGpu + slots.copies) * LAYER_BYTES, ramBytes: slots.drive * LAYER_BYTES }
    return planResidence(rig.layers, { budget, tier: 1, slots, cost, costFrom: 'measured' })
  }
  const open = (plan: ResidencePlan) => rig.open(plan, { copies })
  return { ...rig, open, allocated, hold, failWith, planFor }
}
