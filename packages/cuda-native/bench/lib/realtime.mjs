// The real-time simulator in memory that the addon allocates, and the driver with an engine on it.
import { Controller } from '@gpunvme/host-driver'
import { cpuKernelEngine } from '@gpunvme/cuda-native'
import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'

const MIB = 1024 * 1024
const MEDIA_BYTES = 256 * MIB
const MEMORY_BYTES = 32 * MIB
const BLOCK_BYTES = 512
const LARGE_BYTES = 128 * 1024

/** Starts a drive with written media, which `withDriver` can open repeatedly. */
export async function startDrive() {
  const region = loadHardwareHost().allocate(MEMORY_BYTES, 4096)
  const { address, lengthBytes } = region
  const simulator = await startRealTimeSimulator({
    ...{ module: nativeHostModule, address, lengthBytes },
    namespaces: [{ capacityBytes: MEDIA_BYTES }],
  })
  const drive = {
    /**
     * Opens the driver with the named engine and `depth` commands in flight, and calls `use` with a reader, the engine
     * if it is a kernel engine, and the controller.
     */
    async withDriver(engine, depth, use, access = {}) {
      const { transport } = simulator
      const chosen = engine === 'host' ? {} : { engine: cpuKernelEngine(transport) }
      const controller = await Controller.open(transport, {
        ...chosen,
        ...access,
        queueDepth: depth,
        maxTransferBytes: LARGE_BYTES,
      })
      const memory = controller.namespace(1).dma.alloc(depth * LARGE_BYTES)
      try {
        return await use(readerOf(controller.namespace(1), memory, depth), chosen.engine, controller)
      } finally {
        memory.free()
        await controller.close()
      }
    },
    async close() {
      const mistakes = await simulator.diagnostics()
      await simulator.close()
      region.unmap()
      if (mistakes.length > 0) throw new Error(mistakes.map(({ text }) => text).join('\n'))
    },
  }
  // Reads of blocks never written would be filled, not copied.
  const serial = await drive.withDriver('host', 8, (reader, engine, { identity }) => identity.serial)
  await drive.withDriver('host', 8, ({ write }) => write(), { write: { serial } })
  return drive
}

/** Returns a reader of a namespace: commands use `depth` places in memory in turn. */
function readerOf(namespace, memory, depth) {
  const transfersOf = (lengthBytes, commands, spanBytes) =>
    Array.from({ length: commands }, (_, index) => ({
      slba: ((index * lengthBytes) % spanBytes) / BLOCK_BYTES,
      blocks: lengthBytes / BLOCK_BYTES,
      offsetBytes: (index % depth) * lengthBytes,
    }))
  const execute = async (plan) => {
    const startMs = performance.now()
    const { failures } = await namespace.execute(plan, memory)
    if (failures.length > 0) throw new Error(`${failures.length} commands failed`)
    return performance.now() - startMs
  }
  const { buffer, byteOffset } = memory.view
  const slots = (lengthBytes) =>
    Array.from({ length: depth }, (_, slot) => new Uint8Array(buffer, byteOffset + slot * lengthBytes, lengthBytes))
  return {
    /** Plans `commands` reads of `lengthBytes`, sequentially over `spanBytes` of the namespace. */
    planReads: (lengthBytes, commands, spanBytes = MEDIA_BYTES) =>
      namespace.planReads(transfersOf(lengthBytes, commands, spanBytes)),
    /** Returns milliseconds. */
    execute,
    /** Copies the same bytes into the same places, from as much memory as the media. Returns milliseconds. */
    copy(lengthBytes, commands, spanBytes = MEDIA_BYTES) {
      const targets = slots(lengthBytes)
      const sources = mediaOf(spanBytes)
      const startMs = performance.now()
      for (let index = 0; index < commands; index++) {
        const at = (index * lengthBytes) % spanBytes
        const source = sources[Math.floor(at / MIB)]
        targets[index % depth].set(source.subarray(at % MIB, (at % MIB) + lengthBytes))
      }
      return performance.now() - startMs
    },
    async write() {
      new Uint8Array(buffer, byteOffset, depth * LARGE_BYTES).fill(1)
      await execute(namespace.planWrites(transfersOf(LARGE_BYTES, MEDIA_BYTES / LARGE_BYTES, MEDIA_BYTES)))
    },
  }
}

const media = []

/** Returns memory in pieces of the same size as those of the simulator's media. */
function mediaOf(spanBytes) {
  while (media.length * MIB < spanBytes) media.push(new Uint8Array(MIB).fill(1))
  return media
}
