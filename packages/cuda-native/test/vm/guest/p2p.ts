// Peer-to-peer transfers between the drive and another device's BAR, through the provider for NVIDIA's static BAR1. The
// BAR replaces that of a GPU; only the GPU driver's report of the window is simulated.
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { openStaticBar1, probeWrites, withVram } from '@gpunvme/cuda-native/vram'
import { Controller } from '@gpunvme/host-driver'
import { FakeGpu, type BackingMemory } from '../../vram/fake-gpu.js'
import { bytesOf, fixed, host, MIB, openTransport, print, sysfsFolder, take, vram } from './lib.js'
import { randomBytes } from './pattern.js'

const BYTES = 8 * MIB
const WINDOW = { isEnabled: true, offsetBytes: 16 * MIB, lengthBytes: 48 * MIB }

await using binding = await take(fixed)
await using transport = await openTransport(binding)
const { mapPeer } = transport
if (mapPeer === undefined) throw new Error('the transport does not support peer mappings')
await using ctrl = await Controller.open(transport, { queues: 2, write: { serial: fixed.serial } })
const ns = ctrl.namespace(1)
const blocks = BYTES / ns.blockBytes
const content = randomBytes(BYTES, 4)
const memory = ns.dma.alloc(BYTES)
content.copy(bytesOf(memory))
await ns.write(1000, blocks, memory)

const file = openSync(`${sysfsFolder(vram)}/resource2`, 'r+')
const region = host.map(file, 0, 64 * MIB, 'read-write')
closeSync(file)
const bar = Buffer.from(region.buffer)
bar.fill(0xa5)
const backing: BackingMemory = {
  iova: 0,
  lengthBytes: bar.length,
  read: (offsetBytes, lengthBytes) => new Uint8Array(bar.subarray(offsetBytes, offsetBytes + lengthBytes)),
  write: (offsetBytes, bytes) => {
    bar.set(bytes, offsetBytes)
  },
}
const gpu = new FakeGpu(backing, WINDOW.offsetBytes)
/** Window offsets of all pages that have ever been allocated. */
const used = new Set<number>()
const source = {
  alloc(lengthBytes: number) {
    const allocated = gpu.alloc(lengthBytes)
    for (const offset of gpu.pages.values()) used.add(offset)
    return allocated
  },
  fill: (gpuPointer: bigint, lengthBytes: number, byte: number) => gpu.fill(gpuPointer, lengthBytes, byte),
}
const provider = openStaticBar1({
  sysRoot: describeAsGpu('/tmp/gpu'),
  gpuBdf: vram,
  totalMemoryBytes: WINDOW.lengthBytes,
  queryWindow: () => WINDOW,
  gpu,
  view: () => gpu.window,
  mapPeer: ({ bdf, bar, runs }) => mapPeer({ bdf, bar, runs }),
})
const gpuMemory = withVram(ns.dma, provider, source)
const verdict = await probeWrites({ namespace: ns, host: ns.dma, vram: gpuMemory, gpu })

const target = gpuMemory.alloc(BYTES, { where: 'gpu' })
await ns.read(1000, blocks, target)
const arrived = Buffer.from(gpu.read(target.gpuPointer!, BYTES)).equals(content)

// Write from the BAR.
await ns.write(20_000, blocks, target)
bytesOf(memory).fill(0)
await ns.read(20_000, blocks, memory)
const left = bytesOf(memory).equals(content)

const misplaced: number[] = []
const untouched = Buffer.alloc(2 * MIB, 0xa5)
for (let at = 0; at < bar.length; at += 2 * MIB)
  if (!used.has(at - WINDOW.offsetBytes) && !bar.subarray(at, at + 2 * MIB).equals(untouched)) misplaced.push(at)
const segments = target.segments.length
target.free()
gpuMemory.close()
region.unmap()
print({ accepted: verdict.isAccepted || verdict.message, arrived, left, misplaced, segments })

/** Creates a sysfs in which the register BAR of the GPU is 64-bit, so that BAR 2 is the one that NVIDIA calls BAR1. */
function describeAsGpu(root: string): string {
  const folder = `${root}/sys/bus/pci/devices/${vram}`
  mkdirSync(folder, { recursive: true })
  const lines = readFileSync(`${sysfsFolder(vram)}/resource`, 'utf8').split('\n')
  const registers = '0x00000000fb000000 0x00000000fbffffff 0x0000000000140204'
  writeFileSync(`${folder}/resource`, [registers, lines[1], lines[2]].join('\n'))
  return root
}
