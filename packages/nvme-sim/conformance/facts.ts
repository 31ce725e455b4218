import type { Transport } from '@gpunvme/nvme-spec/transport'
import { bits } from './raw-host/registers.js'
import { success } from './check.js'
import type { CaseHost } from './host.js'

/** Properties from CAP, VS and the transport, which are known before the controller is enabled. */
export interface RegisterFacts {
  readonly cap: bigint
  readonly vs: number
  /** CAP.MQES as a count: maximum entries of an I/O queue. */
  readonly maxQueueEntries: number
  /** CAP.CQR */
  readonly contiguousQueuesOnly: boolean
  /** CAP.AMS: bit 0 is weighted round robin with urgent priority class. */
  readonly ams: number
  /** CAP.TO, at least one second. */
  readonly readyLimitNs: number
  readonly strideBytes: number
  readonly nssrs: boolean
  /** CAP.CSS: bit 0 NVM, bit 6 by I/O Command Set profile, bit 7 none. */
  readonly css: number
  readonly mpsMin: number
  readonly mpsMax: number
  readonly interrupts: boolean
  readonly config: boolean
  readonly functionReset: boolean
}

/** Properties of a controller that determine which cases can run: CAP, Identify and Number of Queues. */
export interface ControllerFacts extends RegisterFacts {
  /** Identify Controller, 4096 bytes. */
  readonly controller: DataView
  /** Identify Namespace of NSID 1, 4096 bytes; all zero if it is not active. */
  readonly namespace: DataView
  /** Numbers of I/O queues that the controller grants for a request of the maximum. */
  readonly ioSqs: number
  readonly ioCqs: number
  readonly oaes: number
  readonly oacs: number
  /** ACL + 1: maximum number of outstanding Aborts. */
  readonly abortLimit: number
  /** AERL + 1: maximum number of outstanding Asynchronous Event Requests. */
  readonly eventRequestLimit: number
  readonly frmw: number
  readonly lpa: number
  readonly nn: number
  readonly oncs: number
  readonly fuses: number
  readonly fna: number
  readonly vwc: number
  readonly sgls: number
  /** MDTS in bytes; Infinity for no limit. */
  readonly maxTransferBytes: number
  /** Blocks of NSID 1. */
  readonly blocks: number
  readonly blockBytes: number
  readonly metadataBytes: number
}

export function registerFacts(transport: Transport, cap: bigint, readyLimitNs: number): RegisterFacts {
  const field = (msb: number, lsb: number) => bits(cap, msb, lsb)
  return {
    cap,
    vs: transport.bar.read32(0x08),
    maxQueueEntries: field(15, 0) + 1,
    contiguousQueuesOnly: field(16, 16) === 1,
    ams: field(18, 17),
    readyLimitNs,
    strideBytes: 4 << field(35, 32),
    nssrs: field(36, 36) === 1,
    css: field(44, 37),
    mpsMin: field(51, 48),
    mpsMax: field(55, 52),
    interrupts: transport.interrupts !== undefined,
    config: transport.config !== undefined,
    functionReset: transport.reset !== undefined,
  }
}

/** Collects the properties of a disabled controller, and leaves it enabled. */
export async function learnFacts(host: CaseHost): Promise<ControllerFacts> {
  await host.start()
  const ask = async (cns: number, nsid: number) => {
    const memory = host.alloc(4096)
    success(await host.admin({ opcode: 0x06, nsid, prp1: memory.iova(), cdw: { 10: cns } }))
    return new DataView(memory.read().buffer)
  }
  const controller = await ask(0x01, 0)
  const namespace = await ask(0x00, 1)
  const { registers } = host
  const mdts = controller.getUint8(77)
  // The format index is FLBAS bits 3:0, extended by bits 6:5. LBAF n is at byte 128 + 4 n: MS, then LBADS in its third
  // byte.
  const flbas = namespace.getUint8(26)
  const format = 128 + 4 * ((flbas & 0xf) | ((flbas >> 1) & 0x30))
  return {
    ...registers,
    controller,
    namespace,
    ioSqs: host.grantedSqs,
    ioCqs: host.grantedCqs,
    maxTransferBytes: mdts === 0 ? Infinity : 2 ** (mdts + 12 + registers.mpsMin),
    oaes: controller.getUint32(92, true),
    oacs: controller.getUint16(256, true),
    abortLimit: controller.getUint8(258) + 1,
    eventRequestLimit: controller.getUint8(259) + 1,
    frmw: controller.getUint8(260),
    lpa: controller.getUint8(261),
    nn: controller.getUint32(516, true),
    oncs: controller.getUint16(520, true),
    fuses: controller.getUint16(522, true),
    fna: controller.getUint8(524),
    vwc: controller.getUint8(525),
    sgls: controller.getUint32(536, true),
    blocks: Number(namespace.getBigUint64(0, true)),
    blockBytes: 2 ** namespace.getUint8(format + 2),
    metadataBytes: namespace.getUint16(format, true),
  }
}
