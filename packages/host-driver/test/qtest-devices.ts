import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { shortfall, type DeviceShape, type OpenTransport, type TransportRequest } from '../conformance/index.js'
import { hasCode } from '../src/error.js'
import { startQemu, type Qemu } from '../src/transport/qtest/index.js'

const LEAST_BYTES = 16 * 1024 * 1024
/** What an image may be said to hold: it is sparse, and file systems end there. */
const MOST_BYTES = 8 * 1024 ** 4
const MOST_NAMESPACES = 8

/** What a controller at work says when its bus mastering is taken away, as the fault of a device that leaves does. */
const CUT_OFF = /^pci_nvme_err_(addr_read|addr_write|cfs)\b/

interface Machine {
  readonly shape: string
  readonly qemu: Qemu
}

/** QEMU's controllers of whatever shape a case needs; a machine serves for as long as the shape is the same. */
export class QtestDevices {
  private machine: Machine | undefined
  /** Transports that are in use: a case that opens two gets two machines. */
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
      // The function stays where it is for the next case; only what a case did to configuration space is undone.
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

/** QEMU's doorbells are 4 bytes apart, and its largest queue has 2048 entries. */
function cannotBe({ namespaces = [{}], ...request }: TransportRequest): string | undefined {
  if (namespaces.length > MOST_NAMESPACES) return `${namespaces.length} images are too many to make for a test`
  if (namespaces.some(({ leastBytes = 0 }) => leastBytes > MOST_BYTES)) return 'no image is that large'
  const { mdts = 7, ioQueuePairs = 64 } = request
  const shape: DeviceShape = { dstrd: 0, maxQueueEntries: 2048, mdts, ioQueuePairs, namespaces: [ANY] }
  return shortfall(shape, request)
}

const ANY = { nsid: 1, blockBytes: 512, metadataBytes: 0, leastBytes: LEAST_BYTES }

function start({ namespaces = [{}], mdts, ioQueuePairs }: TransportRequest): Promise<Qemu> {
  return startQemu({
    memoryBytes: 256 * 1024 * 1024,
    controllers: [
      {
        ...(mdts !== undefined && { mdts }),
        ...(ioQueuePairs !== undefined && { maxIoQueuePairs: ioQueuePairs }),
        namespaces: namespaces.map(({ nsid, blockBytes, metadataBytes, leastBytes = LEAST_BYTES }, index) => ({
          nsid: nsid ?? index + 1,
          imageBytes: leastBytes,
          ...(blockBytes !== undefined && { blockBytes }),
          ...(metadataBytes !== undefined && { metadataBytes }),
        })),
      },
    ],
  })
}

/** What this QEMU, or this file system, cannot do; undefined for every other failure. */
function isUnable(error: unknown): string | undefined {
  if (hasCode(error, 'ERR_GPUNVME_QEMU_START') && error.message.includes('mdts exceeds IOV_MAX'))
    return 'this QEMU transfers 2 MiB at most'
  return (error as NodeJS.ErrnoException).code === 'EFBIG' ? 'no file here is that large' : undefined
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
