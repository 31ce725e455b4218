import { Controller } from '@gpunvme/host-driver'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { expect, test } from 'vitest'
import { isBuilt, native } from '../../test/native.js'
import { scratchFile } from '../../test/scratch-file.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { cudaEngine, openCuda } from '../cuda/index.js'

const MIB = 1024 * 1024
const standin = useStandin()

test.skipIf(!hasStandin || !isBuilt)(
  `kernels read what the driver plans, from a real-time simulator${skippedWithoutStandin}`,
  async () => {
    const content = Uint8Array.from({ length: 4 * MIB }, (_, index) => (index >> 9) ^ index)
    using file = scratchFile(content)
    const memory = native.allocate(16 * MIB, 4096)
    const { address, lengthBytes } = memory
    const simulator = await startRealTimeSimulator({
      ...{ module: nativeHostModule, address, lengthBytes },
      namespaces: [{ file: { path: file.path, readOnly: true } }],
    })
    const cuda = openCuda()
    {
      const engine = cudaEngine(simulator.transport, cuda)
      await using controller = await Controller.open(simulator.transport, { engine, maxTransferBytes: 65536 })
      for (let round = 0; round < 20; round++) {
        const read = await controller.namespace(1).readBytes(65536 + 512 * round, 2 * MIB)
        expect(Buffer.compare(read, content.subarray(65536 + 512 * round, 65536 + 512 * round + 2 * MIB))).toBe(0)
      }
    }
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
    expect(await simulator.diagnostics()).toEqual([])
    await simulator.close()
    memory.unmap()
  },
)
