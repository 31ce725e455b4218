// dma-bufs in place of GPU memory: negotiates the tier by probing, then transfers data (tier 2), then also uses queues
// and PRP lists in the memory (tier 3). Checks every byte.
import { spawnSync } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { cpuKernelEngine } from '@gpunvme/cuda-native'
import {
  dmaBufProvider,
  negotiateTier,
  probeReads,
  probeWrites,
  withVram,
  type TierRequest,
  type VramProvider,
} from '@gpunvme/cuda-native/vram'
import { Controller } from '@gpunvme/host-driver'
import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { bytesOf, fixed, MIB, openTransport, print, take, variable } from './lib.js'
import { randomBytes } from './pattern.js'
import { UdmabufGpu } from './udmabuf.js'

const GPU_BYTES = 64 * MIB
const DATA_BYTES = 6 * MIB
const WRITE = { write: { serial: fixed.serial } }
const IN_GPU = { where: 'gpu' } as const

if (!hasMemory()) {
  const { status, stderr } = spawnSync(
    variable('VM_WITH_MEMFD'),
    [String(GPU_BYTES), process.execPath, ...process.argv.slice(1)],
    { stdio: ['ignore', 'inherit', 'pipe'], encoding: 'utf8' },
  )
  process.stderr.write(stderr)
  process.exit(status ?? 1)
}

const gpu = new UdmabufGpu(GPU_BYTES)
await using binding = await take(fixed)
await using transport = await openTransport(binding)
if (!('dmaBufs' in transport)) throw new Error('the transport does not support dma-bufs')
const provider = dmaBufProvider(gpu, transport.dmaBufs)

const content = randomBytes(DATA_BYTES, 11)
const blocks = DATA_BYTES / 512
const negotiated: Record<string, unknown> = {}
{
  await using ctrl = await Controller.open(transport, { queues: 2, ...WRITE })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(DATA_BYTES)
  content.copy(bytesOf(memory))
  await ns.write(0, blocks, memory)
  const options = (given: VramProvider) => ({
    ...{ namespace: ns, host: ns.dma, gpu },
    vram: withVram(ns.dma, given, gpu),
  })
  const request = (given: VramProvider): TierRequest => ({
    maxTier: 3,
    can: transport.can,
    ordering: { writesOrdering: 200, flushWritesOptions: 0 },
    providers: [{ name: given.name, open: () => given }],
    probe: (each) => probeWrites(options(each)),
    peerReads: { probe: (each) => probeReads(options(each)) },
  })
  for (const [name, given] of [
    ['right', provider],
    ['wrong', swapped(provider)],
  ] as const) {
    const { tier, reasons } = await negotiateTier(request(given))
    negotiated[name] = { tier, reasons: reasons.map(({ code, message }) => `${code}: ${message}`) }
  }

  // Tier 2: data in the dma-buf, queues in host memory.
  const vram = withVram(ns.dma, provider, gpu)
  const data = vram.alloc(DATA_BYTES, IN_GPU)
  await ns.read(0, blocks, data)
  const arrived = gpu.at(data.gpuPointer!, DATA_BYTES).equals(content)
  gpu.at(data.gpuPointer!, DATA_BYTES).reverse()
  await ns.write(blocks, blocks, data)
  await ns.read(blocks, blocks, memory)
  const left = bytesOf(memory).equals(Buffer.from(content).reverse())
  const segments = data.segments.length
  data.free()
  negotiated['tier2'] = { arrived, left, segments, hasView: data.view !== undefined }
}

// Tier 3: queues and PRP lists in the dma-buf too, with both CPU engines, since the CPU can access this memory.
const vram = withVram(transport.dma, provider, gpu)
const dma: DmaAllocator = {
  alloc: (lengthBytes, request) =>
    request?.where === 'gpu' ? gpu.seen(vram.alloc(lengthBytes, request)) : transport.dma.alloc(lengthBytes, request),
}
const tier3: Record<string, boolean> = {}
for (const engine of ['host', 'cpu-kernel'] as const) {
  const before = gpu.unusedBytes
  await using ctrl = await Controller.open(
    { ...transport, dma },
    {
      ...{ queues: 2, queueMemory: 'gpu', ...WRITE },
      ...(engine === 'cpu-kernel' && { engine: cpuKernelEngine(transport) }),
    },
  )
  const ns = ctrl.namespace(1)
  const data = ns.dma.alloc(DATA_BYTES, IN_GPU)
  const reversed = randomBytes(DATA_BYTES, engine.length)
  reversed.copy(bytesOf(data))
  await ns.write(7, blocks, data)
  bytesOf(data).fill(0xa5)
  await ns.read(7, blocks, data)
  tier3[engine] = bytesOf(data).equals(reversed) && before - gpu.unusedBytes > DATA_BYTES
}
vram.close()
print({ ...negotiated, tier3, unusedBytes: gpu.unusedBytes, iommu: transport.info.iommu })

/** Returns whether this process has the memfd; without it, the program restarts itself through with-memfd. */
function hasMemory(): boolean {
  try {
    return fstatSync(3).size === GPU_BYTES
  } catch {
    return false
  }
}

/** Maps every 2 MiB to the address of the next 2 MiB, so that data arrive in the wrong place. */
function swapped(given: VramProvider): VramProvider {
  return {
    name: given.name,
    map(gpuPointer, lengthBytes) {
      const mapping = given.map(gpuPointer, lengthBytes)
      const pieces = Array.from({ length: lengthBytes / (2 * MIB) }, (_, index) => index * 2 * MIB)
      const iovaAt = (offset: number) => {
        const segment = mapping.segments.findLast(({ offsetBytes }) => offsetBytes <= offset)!
        return segment.iova + offset - segment.offsetBytes
      }
      const segments = pieces.map((offsetBytes, index) => ({
        offsetBytes,
        iova: iovaAt(pieces[(index + 1) % pieces.length]!),
        lengthBytes: 2 * MIB,
      }))
      return { segments, release: () => mapping.release() }
    },
  }
}
