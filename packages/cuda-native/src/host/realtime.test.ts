import { Controller } from '@gpunvme/host-driver'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { expect, test } from 'vitest'
import { isMapped } from '../../test/mappings.js'
import { isBuilt, native, skipped } from '../../test/native.js'
import { scratchFile } from '../../test/scratch-file.js'

const MIB = 1024 * 1024

test.skipIf(!isBuilt)(
  `the driver reads from a real-time simulator whose registers and memory the addon mapped${skipped}`,
  async () => {
    const content = Uint8Array.from({ length: MIB }, (_, index) => (index >> 9) ^ index)
    using file = scratchFile(content)
    const memory = native.allocate(8 * MIB, 4096)
    const { address, lengthBytes } = memory
    const simulator = await startRealTimeSimulator({
      ...{ module: nativeHostModule, address, lengthBytes },
      namespaces: [{ file: { path: file.path, readOnly: true } }],
    })
    // Device addresses are addresses of this process.
    expect(BigInt(simulator.layout.baseIova)).toBe(address)
    {
      await using controller = await Controller.open(simulator.transport)
      const read = await controller.namespace(1).readBytes(65536, 131072)
      expect(Buffer.compare(read, content.subarray(65536, 65536 + 131072))).toBe(0)
      // CSTS.RDY, as the addon sees the simulator's registers.
      expect(memory.load32(simulator.layout.barOffsetBytes + 0x1c) & 1).toBe(1)
    }
    expect(await simulator.diagnostics()).toEqual([])
    await simulator.close()
    memory.unmap()
    expect(isMapped(address)).toBe(false)
  },
)
