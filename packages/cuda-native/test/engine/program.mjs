// Runs an engine in a process or a worker thread, and ends as the first argument says. With 'cuda' as the second
// argument, uses the engine `cuda` on the GPU of GPUNVME_CUDA_LIBRARY.
import { closeSync, ftruncateSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { cpuKernelEngine } from '@gpunvme/cuda-native'
import { cudaEngine, openCuda } from '@gpunvme/cuda-native/cuda'
import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import { Controller } from '@gpunvme/host-driver'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'

const MIB = 1024 * 1024
const how = workerData?.how ?? process.argv[2]
const onGpu = (workerData?.engine ?? process.argv[3]) === 'cuda'

// On a tmpfs, since NVIDIA's driver cannot pin pages of a file on disk.
const folder = mkdtempSync(join('/dev/shm', 'gpunvme-engine-'))
const fd = openSync(join(folder, 'memory'), 'w+')
ftruncateSync(fd, 32 * MIB)
const { address, lengthBytes } = loadHardwareHost().map(fd, 0, 32 * MIB, 'read-write')
closeSync(fd)
rmSync(folder, { recursive: true })

const hang = { match: { qid: 1, opcode: 0x02, nth: 30 }, action: { kind: 'hang' } }
const { transport, statistics } = await startRealTimeSimulator({
  ...{ module: nativeHostModule, address, lengthBytes },
  namespaces: [{ capacityBytes: 16 * MIB }],
  faults: { rules: [hang] },
})
const memory = transport.dma.alloc(64 * 4096)
const kept = {
  name: 'kept',
  attach: (queues) => (kept.queues = queues),
  execute: () => undefined,
  detach: () => undefined,
}
const controller = await Controller.open(transport, { engine: kept, queueDepth: 8 })
const ns = controller.namespace(1)
const reads = (count) =>
  ns.planReads(Array.from({ length: count }, (_, at) => ({ slba: at * 8, blocks: 8, offsetBytes: at * 4096 })))

const persistent = { lingerNs: Infinity }
const held = { engine: onGpu ? cudaEngine(transport, openCuda(), persistent) : cpuKernelEngine(transport, persistent) }
held.engine.attach(kept.queues)
const { succeeded } = await held.engine.execute(reads(16), memory)
if (succeeded !== 16) throw new Error(`${succeeded} of 16`)

/** Returns the number of leader threads of this process; on a GPU, the number of streams of engines. */
function leaders() {
  // `streams` of the stand-in's Control. One stream belongs to the GPU itself.
  if (onGpu) return readFileSync(process.env.GPUNVME_STANDIN_CONTROL).readInt32LE(16) - 1
  const names = readdirSync('/proc/self/task').map((task) => readFileSync(`/proc/self/task/${task}/comm`, 'utf8'))
  return names.filter((name) => name === 'gpunvme-leader\n').length
}

switch (how) {
  case 'busy': {
    void held.engine.execute(reads(64), memory)
    while ((await statistics()).ioCommands[2] < 29) await sleep(1)
    if (parentPort === null) process.exit(3)
    parentPort.postMessage(leaders())
    break
  }
  case 'forgotten': {
    if (leaders() < 1) throw new Error(`${leaders()} leaders`)
    delete held.engine
    while (leaders() > 0) {
      globalThis.gc()
      await sleep(5)
    }
    break
  }
  // Exits while the engine waits for plans.
  case 'idle':
}
