// Runs the kernel of read_block.cu, which reads one block, and prints the block. Without a PCI address, the drive is simulated,
// with this file as its content. Read-only. Also requires @gpunvme/host-driver and @gpunvme/nvme-sim; @gpunvme/tools installs
// all of them.
//
//   node read_block.mjs PTX [LBA] [PCI ADDRESS, such as 0000:0b:00.0, bound to vfio-pci]
import { readFileSync } from 'node:fs'
import { deviceQueues, openCuda } from '@gpunvme/cuda-native/cuda'
import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import { Controller } from '@gpunvme/host-driver'
import { openVfio } from '@gpunvme/host-driver/vfio'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'

const [ptx, lba = '0', bdf] = process.argv.slice(2)
if (ptx === undefined)
  throw new Error('PTX is required: the path of read_block.ptx, which nvcc compiles from read_block.cu')
const host = loadHardwareHost()
const drive = bdf === undefined ? await simulated() : { transport: await openVfio({ host, bdf }) }

const cuda = openCuda()
cuda.loadKernels(readFileSync(ptx))
const queues = deviceQueues(cuda)
const engine = queues.engine(drive.transport)
const controller = await Controller.open(drive.transport, { engine })
const namespace = controller.namespaces[0]
const device = await queues.device([{ engine, namespace }])

const block = namespace.dma.alloc(namespace.blockBytes)
const buffer = engine.buffer(block)
const result = cuda.allocPinned(24)
const stream = cuda.stream()
cuda.launch('read_block', 1, 1, [device.argument, buffer.argument, BigInt(lba), result.gpuPointer], stream)
await stream.finished()

const [ending, status, sum] = new BigUint64Array(result.buffer, 0, 3)
const bytes = new Uint8Array(block.view.buffer, block.view.byteOffset, block.lengthBytes)
console.log(`ending ${ending}, status ${status}, sum of the bytes ${sum}`)
console.log(Buffer.from(bytes).toString('latin1'))

buffer.free()
device.free()
await controller.close()
await cuda.close()
await (drive.close ?? drive.transport.close)()

async function simulated() {
  const { address, lengthBytes } = host.allocate(16 * 1024 * 1024, 4096)
  const namespaces = [{ file: { path: import.meta.filename, readOnly: true } }]
  return startRealTimeSimulator({ module: nativeHostModule, address, lengthBytes, namespaces })
}
