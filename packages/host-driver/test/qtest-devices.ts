import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { shortfall, type DeviceShape, type OpenTransport, type TransportRequest } from '../conformance/index.js'
import { hasCode } from '../src/error.js'
import { startQemu, type Qemu } from '../src/transport/qtest/index.js'

const MIN_BYTES = 16 * 1024 * 1024
/** Maximum size of a sparse image. File systems support no larger ones. */
const MAX_BYTES = 8 * 1024 ** 4
const MAX_NAMESPACES = 8

/** Errors that QEMU traces if bus mastering is disabled during I/O, as by the fault that removes a device. */
const CUT_OFF = /^pci_nvme_err_(addr_read|addr_write|cfs)\b/

interface Machine {
  readonly shape: string
  readonly qemu: Qemu
}

/** Opens QEMU's controllers in the shape that a case requests. A machine is reused while the shape is the same. */
export class QtestDevices {
  private machine: Machine | undefined
  /** Number of transports in use. A case that opens two gets two machines. */
  private inUse = 0
  private readonly others: Qemu[] = []

  readonly open: OpenTransport = async (request) => {
    const why = cannotBe(request)
    if (why !== undefined) return why
    let qemu: Qemu
    try {
      qemu = this.inUse > 0 ? await this.another(request) : await this.reused(request)
    } catch (error) {
      const unable = isUnable(error)
      if (unable === undefined) throw error
      return unable
    }
    this.inUse++
    const { transport, serial } = qemu.controllers[0]!
    const before = qemu.misuse.length
    const given: Transport = {
      ...transport,
      // The function is kept for the next case. The reset restores its configuration space.
      close: async () => {
        this.inUse--
        await transport.reset!('bus')
      },
    }
    const mistakes = () => {
      const said = lines(qemu.misuse.slice(before))
      const reachesMemory = PciHeader.CMD.BME.of(transport.config!.read(PciHeader.CMD.offset, 2)) === 1
      return reachesMemory ? said : said.filter((line) => !CUT_OFF.test(line))
    }
    return { transport: given, serial, mistakes }
  }

  async close(): Promise<void> {
    await this.machine?.qemu.close()
    this.machine = undefined
    for (const qemu of this.others.splice(0)) await qemu.close()
  }

  private async reused(request: TransportRequest): Promise<Qemu> {
    for (const qemu of this.others.splice(0)) await qemu.close()
    const shape = JSON.stringify(request)
    if (this.machine?.shape !== shape || this.machine.qemu.exit !== undefined) {
      await this.close()
      this.machine = { shape, qemu: await start(request) }
    }
    return this.machine.qemu
  }

  private async another(request: TransportRequest): Promise<Qemu> {
    const qemu = await start(request)
    this.others.push(qemu)
    return qemu
  }
}

/**
 * Returns why QEMU cannot have the requested shape: it has a doorbell stride of 4 bytes, and queues of up to 2048
 * entries.
 */
function cannotBe({ namespaces = [{}], ...request }: TransportRequest): string | undefined {
  if (namespaces.length > MAX_NAMESPACES) return `${namespaces.length} images are too many for a test`
  if (namespaces.some(({ minBytes = 0 }) => minBytes > MAX_BYTES)) return 'no image is that large'
  const { mdts = 7, ioQueuePairs = 64 } = request
  const shape: DeviceShape = { dstrd: 0, maxQueueEntries: 2048, mdts, ioQueuePairs, namespaces: [ANY] }
  return shortfall(shape, request)
}

const ANY = { nsid: 1, blockBytes: 512, metadataBytes: 0, minBytes: MIN_BYTES }

function start({ namespaces = [{}], mdts, ioQueuePairs }: TransportRequest): Promise<Qemu> {
  return startQemu({
    memoryBytes: 256 * 1024 * 1024,
    controllers: [
      {
        ...(mdts !== undefined && { mdts }),
        ...(ioQueuePairs !== undefined && { maxIoQueuePairs: ioQueuePairs }),
        namespaces: namespaces.map(({ nsid, blockBytes, metadataBytes, minBytes = MIN_BYTES }, index) => ({
          nsid: nsid ?? index + 1,
          imageBytes: minBytes,
          ...(blockBytes !== undefined && { blockBytes }),
          ...(metadataBytes !== undefined && { metadataBytes }),
        })),
      },
    ],
  })
}

/** Returns why this version of QEMU, or this file system, cannot have the shape; undefined for other failures. */
function isUnable(error: unknown): string | undefined {
  if (hasCode(error, 'ERR_GPUNVME_QEMU_START') && error.message.includes('mdts exceeds IOV_MAX'))
    return 'this QEMU transfers 2 MiB at most'
  return (error as NodeJS.ErrnoException).code === 'EFBIG' ? 'no file here is that large' : undefined
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
