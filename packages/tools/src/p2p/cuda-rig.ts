import { CudaPattern, CudaPeerCopier, openCuda, type Cuda, type GpuMemory } from '@gpunvme/cuda-native/cuda'
import type { PeerLane, PeerRig } from './peer-rig.js'

interface OpenGpu {
  readonly cuda: Cuda
  readonly pattern: CudaPattern
}

/** What a destination holds before a copy: the pattern of no copy. */
const POISON = 0xdead_0000_0000n

/** Opens GPUs as they are asked for, lends what copies between them, and closes all of them however `use` ends. */
export async function withCudaRig<T>(use: (rig: PeerRig) => Promise<T>): Promise<T> {
  const gpus = new Map<number, OpenGpu>()
  const gpu = (device: number): OpenGpu => {
    const open = gpus.get(device)
    if (open !== undefined) return open
    const cuda = openCuda({ device })
    const opened = { cuda, pattern: new CudaPattern(cuda) }
    gpus.set(device, opened)
    return opened
  }
  const closeAll = () => Promise.all([...gpus.values()].map(({ cuda }) => cuda.close()))
  let result: T
  try {
    result = await use({ lane: (from, to, lengthBytes) => laneOf(gpu(from), gpu(to), lengthBytes) })
  } catch (error) {
    // What went wrong first is what is to be told.
    await Promise.allSettled([closeAll()])
    throw error
  }
  await closeAll()
  return result
}

function laneOf(from: OpenGpu, to: OpenGpu, lengthBytes: number): PeerLane {
  const owned: { readonly free: () => void }[] = []
  const alloc = (cuda: Cuda): GpuMemory => {
    const memory = cuda.allocDevice(lengthBytes)
    owned.push(memory)
    return memory
  }
  const freeAll = () => {
    for (const memory of owned) memory.free()
  }
  try {
    const [source, destination] = [alloc(from.cuda), alloc(to.cuda)]
    const copier = new CudaPeerCopier(from.cuda, to.cuda)
    return {
      isDirect: copier.isDirect,
      async prepare(seed) {
        await from.pattern.fill(source, BigInt(seed))
        await to.pattern.fill(destination, POISON + BigInt(seed))
      },
      copy: () => copier.copy(source, 0, destination, 0, lengthBytes),
      check: (seed) => to.pattern.verify(destination, BigInt(seed)),
      close() {
        copier.close()
        freeAll()
      },
    }
  } catch (error) {
    freeAll()
    throw error
  }
}
