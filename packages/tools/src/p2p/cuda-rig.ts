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

/** What copies from one GPU, and the last copy that it made. */
interface Copying {
  readonly from: Cuda
  readonly copier: CudaPeerCopier
  last: Promise<void>
}

/** What a destination holds before a copy: the pattern of no copy. */
const POISON = 0xdead_0000_0000n

/**
 * Opens GPUs as they are asked for, lends what copies between them, and closes them however `use` ends: all but those
 * that a copy still reads, which stay open with their memory.
 * @param timeoutNs for each copy; 30 s when not given.
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
    // What went wrong first is what is to be told.
    await Promise.allSettled([closeAll()])
    throw error
  }
  await closeAll()
  return result
}

/** The GPUs whose memory may still be copied from: copies are in the stream of the other GPU, so theirs is idle. */
async function stillRead(copying: ReadonlySet<Copying>): Promise<Set<Cuda>> {
  const read = new Set<Cuda>()
  for (const { from, copier, last } of copying) {
    await last.catch(() => undefined) // whoever copied has heard of it
    try {
      copier.close()
    } catch {
      // It is busy, or nobody knows: what it reads is not given back.
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
