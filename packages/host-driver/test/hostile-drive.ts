import { AQA, ASQ, countOf, SQE } from '@gpunvme/nvme-spec'
import type { Bar, DmaAllocator, DmaMemory, Transport } from '@gpunvme/nvme-spec/transport'

const ADMIN_TAIL = 0x1000

/** Replaces the data that an Admin command returns. */
export type ChangeData = (
  command: { readonly opcode: number; readonly nsid: number; readonly cdw10: number },
  data: DataView,
) => void

/**
 * A transport whose drive returns forged data for Admin commands. The data changes in `forHost`, before the driver reads it.
 * @param maxCommands number of Admin commands after which the drive fails the test, to end a driver that loops.
 */
export function hostileDrive(
  transport: Transport,
  change: ChangeData,
  maxCommands = 1000,
): Transport & { readonly commands: number } {
  const memories = new Set<DmaMemory>()
  let asq = 0n
  let entries = 0
  let commands = 0
  let latest: DataView | undefined

  const dma: DmaAllocator = {
    alloc(lengthBytes, request) {
      const memory = transport.dma.alloc(lengthBytes, request)
      memories.add(memory)
      return Object.assign(memory, {
        forHost(offsetBytes: number) {
          if (latest === undefined) return
          const { OPC, NSID, PRP1 } = SQE.view(latest)
          if (PRP1 === 0 || memory.iovaAt(offsetBytes) !== PRP1) return
          const { buffer, byteOffset } = memory.view!
          const command = { opcode: OPC, nsid: NSID, cdw10: latest.getUint32(40, true) }
          change(command, new DataView(buffer, byteOffset + offsetBytes, 4096))
        },
      })
    },
  }
  const bar: Bar = {
    lengthBytes: transport.bar.lengthBytes,
    read32: (offset) => transport.bar.read32(offset),
    read64: (offset) => transport.bar.read64(offset),
    write32(offset, value) {
      if (offset === AQA.offset) entries = countOf(AQA.ASQS.of(value))
      if (offset === ADMIN_TAIL) {
        if (++commands > maxCommands) throw new Error(`the drive was sent more than ${maxCommands} commands`)
        const ring = [...memories].find(({ segments }) => BigInt(segments[0]!.iova) === asq)!
        const at = ((value + entries - 1) % entries) * SQE.bytes
        latest = new DataView(
          ring.view!.buffer.slice(ring.view!.byteOffset + at, ring.view!.byteOffset + at + SQE.bytes),
        )
      }
      transport.bar.write32(offset, value)
    },
    write64(offset, value) {
      if (offset === ASQ.offset) asq = value
      transport.bar.write64(offset, value)
    },
  }
  return {
    ...transport,
    bar,
    dma,
    get commands() {
      return commands
    },
  }
}
