import type { CopyEngine, DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { planResidence, type ResidencePlan } from '../../src/residence/index.js'
import { cost, LAYER_BYTES, machine } from './machine.js'

export const turns = async (count: number) => {
  for (let passed = 0; passed < count; passed++) await new Promise(setImmediate)
}

/** Returns a machine whose copies can be blocked or failed, and whose GPU allocations are tracked. */
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
  /** Blocks the end of copies until `open` is called. `copying` waits for a blocked copy. */
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
  /** Fails later copies with this error; without an error they succeed again. */
  const failWith = (error?: Error) => void (failure = error)
  /** Returns a plan of tier 1 with this many layers on the GPU and the others on the drive. */
  const planFor = (onGpu: number) => {
    const slots = { copies: 2, drive: 2 }
    const budget = { vramBytes: (onGpu + slots.copies) * LAYER_BYTES, ramBytes: slots.drive * LAYER_BYTES }
    return planResidence(rig.layers, { budget, tier: 1, slots, cost, costFrom: 'measured' })
  }
  const open = (plan: ResidencePlan) => rig.open(plan, { copies })
  return { ...rig, open, allocated, hold, failWith, planFor }
}
