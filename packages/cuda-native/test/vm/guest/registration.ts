// The engine `cuda` on queues and registers that the gpunvme module maps, with a stand-in for libcuda. From
// /proc/self/smaps of this kernel, the stand-in rejects the registrations that NVIDIA's driver rejects. Device code
// runs on CPU threads and writes to the real BAR.
import { existsSync } from 'node:fs'
import { Controller } from '@gpunvme/host-driver'
import { cudaEngine, openCuda } from '@gpunvme/cuda-native/cuda'
import { bytesOf, fixed, MIB, openTransport, print, take } from './lib.js'

const BLOCKS = 8
const CONTENT = Buffer.from(Uint8Array.from({ length: MIB }, (_, position) => (position * 31) ^ (position >>> 9)))

const library = new URL('../standin/libcuda.so', import.meta.url).pathname
process.env['GPUNVME_CUDA_LIBRARY'] = library
process.env['GPUNVME_STANDIN_DRIVER'] = 'open 580.159.04 6.1'

/** Writes the content with the host engine, or reads it with `cuda`. Returns the content of the memory afterwards. */
async function transfer(bdf: string, operation: 'write' | 'read'): Promise<Buffer> {
  await using transport = await openTransport({ bdf })
  const cuda = operation === 'read' ? openCuda() : undefined
  try {
    const engine = cuda === undefined ? {} : { engine: cudaEngine(transport, cuda) }
    await using controller = await Controller.open(transport, { queues: 4, write: { serial: fixed.serial }, ...engine })
    const ns = controller.namespace(1)
    const memory = ns.dma.alloc(MIB)
    if (operation === 'write') CONTENT.copy(bytesOf(memory))
    else bytesOf(memory).fill(0xa5)
    const bytes = BLOCKS * ns.blockBytes
    const transfers = Array.from({ length: MIB / bytes }, (_, at) => ({
      ...{ slba: at * BLOCKS, blocks: BLOCKS, offsetBytes: at * bytes },
    }))
    const plan = operation === 'write' ? ns.planWrites(transfers) : ns.planReads(transfers)
    const { failures } = await ns.execute(plan, memory)
    if (failures[0] !== undefined) throw new Error(`a command failed: ${JSON.stringify(failures[0])}`)
    return Buffer.from(bytesOf(memory))
  } finally {
    await cuda?.close()
  }
}

if (existsSync(library)) {
  await using binding = await take(fixed)
  await transfer(binding.bdf, 'write')
  const read = await transfer(binding.bdf, 'read')
  print({ isSame: read.equals(CONTENT) })
}
