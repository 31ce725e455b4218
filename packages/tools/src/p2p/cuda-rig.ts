import {
  CudaPattern,
  CudaPeerCopier,
  openCuda,
  type Cuda,
  type GpuMemory,
  type PeerCopierOptions,
} from '@gpunvme/cuda-native/cuda'
import type { PeerLane, PeerRig } from './peer-rig.js'

interface OpenGpu {
  readonly cuda: Cuda
  readonly pattern: CudaPattern
}

/** GPU that copies, and its latest copy. */
interface Copying {
  readonly from: Cuda
  readonly copier: CudaPeerCopier
  last: Promise<void>
}

/** Content of a destination before a copy: a pattern that no copy has. */
const POISON = 0xdead_0000_0000n

/**
 * Opens GPUs on demand, lends them for copies, and closes them in all cases, except those that a copy still reads,
 * which stay open with their memory.
 * @param timeoutNs time limit of each copy. Default: 30 s.
 */
export async function withCudaRig<T>(use: (rig: PeerRig) => Promise<T>, timeoutNs?: number): Promise<T> {
  const cudas = new Set<Cuda>()
  const gpus = new Map<number, OpenGpu>()
  const copying = new Set<Copying>()
  const gpu = (device: number): OpenGpu => {
    const open = gpus.get(device)
    if (open !== undefined) return open
    const cuda = openCuda({ device })
    cudas.add(cuda)
    const opened = { cuda, pattern: new CudaPattern(cuda) }
    gpus.set(device, opened)
    return opened
  }
  const closeAll = async () => {
    const read = await stillRead(copying)
    await Promise.all([...cudas].filter((cuda) => !read.has(cuda)).map((cuda) => cuda.close()))
  }
  let result: T
  try {
    const options = timeoutNs === undefined ? {} : { timeoutNs }
    result = await use({
      lane: (from, to, lengthBytes) => laneOf(gpu(from), gpu(to), lengthBytes, copying, options),
    })
  } catch (error) {
    // The first error is reported.
    await Promise.allSettled([closeAll()])
    throw error
  }
  await closeAll()
  return result
}

/** Returns the GPUs that copies may still read: copies run in the stream of the other GPU. */
async function stillRead(copying: ReadonlySet<Copying>): Promise<Set<Cuda>> {
  const read = new Set<Cuda>()
  for (const { from, copier, last } of copying) {
    await last.catch(() => undefined) // already reported
    try {
      copier.close()
    } catch {
      // It is busy or unknown: its source must not be freed.
      read.add(from)
    }
  }
  return read
}

function laneOf(
  from: OpenGpu,
  to: OpenGpu,
  lengthBytes: number,
  copying: Set<Copying>,
  options: PeerCopierOptions,
): PeerLane {
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
    const copier = new CudaPeerCopier(from.cuda, to.cuda, options)
    const ours: Copying = { from: from.cuda, copier, last: Promise.resolve() }
    copying.add(ours)
    return {
      isDirect: copier.isDirect,
      async prepare(seed) {
        await from.pattern.fill(source, BigInt(seed))
        await to.pattern.fill(destination, POISON + BigInt(seed))
      },
      copy: () => (ours.last = copier.copy(source, 0, destination, 0, lengthBytes)),
      check: (seed) => to.pattern.verify(destination, BigInt(seed)),
      close() {
        copier.close()
        copying.delete(ours)
        freeAll()
      },
    }
  } catch (error) {
    freeAll()
    throw error
  }
}
