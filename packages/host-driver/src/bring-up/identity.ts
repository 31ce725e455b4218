import {
  CC,
  CNS,
  countOf,
  CQE,
  CSI,
  FID,
  Identify,
  IdentifyController,
  IdentifyNamespace,
  IoCommandSetProfile,
  IoCommandSets,
  IoCommandSetVector,
  lbaFormatIndex,
  maxTransferBytes,
  SetFeatures,
  SQE,
} from '@gpunvme/nvme-spec'
import { NS_PER_MS } from '../wait.js'
import { listNamespaces } from '../admin/namespace-list.js'
import type { CommandQueue } from '../commands/command-queue.js'
import { unsupportedController, type Limits } from './ready.js'

/** Identify data of a controller. */
export interface ControllerIdentity {
  /** Serial Number (SN). */
  readonly serial: string
  /** Model Number (MN). */
  readonly model: string
  /** Firmware Revision (FR). */
  readonly firmware: string
  /** Maximum transfer of a command in bytes (MDTS); undefined if the controller sets no limit. */
  readonly maxTransferBytes: number | undefined
  /** Whether the controller has a volatile write cache (VWC). */
  readonly volatileWriteCache: boolean
  /** RTD3E: maximum duration of a shutdown, in nanoseconds; 0 if the controller does not state it. */
  readonly shutdownNs: number
  /** Required alignment of data addresses in SGLs; undefined if commands do not accept SGLs. */
  readonly sgl: 'byte' | 'dword' | undefined
  /** Maximum number of outstanding Asynchronous Event Requests, 1 to 256. */
  readonly eventRequests: number
  /** Command Retry Delay Times 1 to 3, in nanoseconds; 0 if not stated. */
  readonly retryDelaysNs: readonly [number, number, number]
  /** The 4096 bytes of Identify Controller, for everything else: `IdentifyController.view(identity.raw)`. */
  readonly raw: DataView
}

/** Format of a namespace, as far as reading and writing its blocks needs it. */
export interface NamespaceIdentity {
  readonly nsid: number
  /** False if the namespace is no longer active: the other fields are then its last known values. */
  readonly attached: boolean
  /** NSZE: number of logical blocks. LBAs are 0 to `blocks` - 1. */
  readonly blocks: number
  /** Bytes of a logical block. */
  readonly blockBytes: number
  /**
   * NOIOB: blocks between boundaries that reads and writes should not cross; undefined if not stated or below 64 KiB.
   */
  readonly boundaryBlocks?: number | undefined
  /** Why this driver cannot read or write the namespace, for example a metadata format; undefined if it can. */
  readonly unsupported: string | undefined
  /** True if it may have changed since, but could not be identified again. I/O is refused until it is. */
  readonly outdated?: boolean
  /** The 4096 bytes of Identify Namespace. */
  readonly raw: DataView
}

/** Closer boundaries would cost more commands than crossing them costs the drive. */
const MIN_BOUNDARY_BYTES = 64 * 1024

/** Unit of CRDT1 to CRDT3: 100 ms. */
const CRDT_NS = 100 * NS_PER_MS

function sglAlignment(sgls: number): 'byte' | 'dword' | undefined {
  const { SUPPORTED, DWORD_ALIGNED } = IdentifyController.SGLS.SGLS
  return sgls === SUPPORTED ? 'byte' : sgls === DWORD_ALIGNED ? 'dword' : undefined
}

/**
 * Identifies the controller.
 * @param name of the controller, for errors.
 * @throws DriverError (UNSUPPORTED_CONTROLLER) for empty data, and for queue entries of another size; errors of the
 *   command.
 */
export async function identifyController(
  admin: CommandQueue,
  name: string,
  mpsmin: number,
): Promise<ControllerIdentity> {
  const raw = await admin.executeForData(Identify, { CNS: CNS.CONTROLLER })
  checkIdentity(name, raw)
  const data = IdentifyController.view(raw)
  return {
    serial: data.SN,
    model: data.MN,
    firmware: data.FR,
    maxTransferBytes: maxTransferBytes(data.MDTS, mpsmin),
    volatileWriteCache: IdentifyController.VWC.VWCP.of(data.VWC) === 1,
    shutdownNs: data.RTD3E * 1000,
    sgl: sglAlignment(IdentifyController.SGLS.SGLS.of(data.SGLS)),
    eventRequests: countOf(data.AERL),
    retryDelaysNs: [data.CRDT1 * CRDT_NS, data.CRDT2 * CRDT_NS, data.CRDT3 * CRDT_NS],
    raw,
  }
}

/** @throws DriverError (UNSUPPORTED_CONTROLLER) if the driver cannot use the controller, by its Identify data. */
function checkIdentity(name: string, raw: DataView): void {
  const bytes = new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength)
  for (const [byte, text] of [
    [0, 'zeros'],
    [0xff, 'ones'],
  ] as const) {
    if (!bytes.every((each) => each === byte)) continue
    const fact = 'it completed Identify with success: its data may not have reached the memory of the host'
    throw unsupportedController(name, `its Identify Controller data is all ${text}`, fact)
  }
  const { SQES, CQES } = IdentifyController.view(raw)
  const sizes = [
    ['SQES', SQES, IdentifyController.SQES.MINSQES.of(SQES), SQE.bytes],
    ['CQES', CQES, IdentifyController.CQES.MINCQES.of(CQES), CQE.bytes],
  ] as const
  for (const [field, value, exponent, ours] of sizes) {
    if (2 ** exponent <= ours) continue
    throw unsupportedController(
      name,
      `it requires queue entries of ${2 ** exponent} bytes (${field} = 0x${value.toString(16)}), expected ${ours}`,
    )
  }
}

/**
 * Identifies every active namespace, in increasing order of NSID.
 * @param controller the 4096 bytes of Identify Controller.
 * @param commandSets CC.CSS; with all command sets enabled, only namespaces of the NVM Command Set are listed.
 * @throws DriverError (NAMESPACE_LIST)
 */
export async function identifyNamespaces(
  admin: Pick<CommandQueue, 'executeForData'>,
  controller: DataView,
  commandSets: Limits['commandSets'],
): Promise<NamespaceIdentity[]> {
  const list =
    commandSets === CC.CSS.NVM
      ? { CNS: CNS.ACTIVE_NAMESPACE_LIST }
      : { CNS: CNS.COMMAND_SET_ACTIVE_NAMESPACE_LIST, CSI: CSI.NVM }
  const namespaces: NamespaceIdentity[] = []
  for (const NSID of await listNamespaces(controller, (above) =>
    admin.executeForData(Identify, { ...list, NSID: above }),
  )) {
    namespaces.push(namespaceFormat(NSID, await admin.executeForData(Identify, { CNS: CNS.NAMESPACE, NSID })))
  }
  return namespaces
}

/** Decodes the format of a namespace from Identify Namespace. */
export function namespaceFormat(nsid: number, raw: DataView): NamespaceIdentity {
  const data = IdentifyNamespace.view(raw)
  const index = lbaFormatIndex(data.FLBAS, countOf(data.NLBAF))
  const format = data.LBAF[index] ?? 0
  const { LBADS, MS } = IdentifyNamespace.LBAF
  const shift = LBADS.of(format)
  const protection = IdentifyNamespace.DPS.PIT.of(data.DPS)
  let unsupported: string | undefined
  if (shift < 9 || shift > 16) unsupported = `LBA format ${index} has LBADS ${shift}, supported are 9 to 16`
  else if (MS.of(format) !== 0) unsupported = `LBA format ${index} has ${MS.of(format)} bytes of metadata per block`
  else if (protection !== 0) unsupported = `its format has end-to-end protection type ${protection}`
  else if (!Number.isSafeInteger(data.NSZE * 2 ** shift))
    unsupported = `its capacity of ${data.NSZE} blocks (NSZE) exceeds 2^53 bytes`
  const blockBytes = 2 ** shift
  const boundaryBlocks = data.NOIOB * blockBytes < MIN_BOUNDARY_BYTES ? undefined : data.NOIOB
  return { nsid, attached: true, blocks: data.NSZE, blockBytes, boundaryBlocks, unsupported, raw }
}

/** Returns whether two descriptions of one NSID are of the same namespace in the same format, whatever its size. */
export function isSameNamespace(one: NamespaceIdentity, other: NamespaceIdentity): boolean {
  const name = ({ raw }: NamespaceIdentity) => {
    const { NGUID, EUI64 } = IdentifyNamespace.view(raw)
    return [...NGUID, ...EUI64].join()
  }
  return one.attached === other.attached && one.blockBytes === other.blockBytes && name(one) === name(other)
}

/** Controller ID that selects the controller that executes Identify. */
const THIS_CONTROLLER = 0xffff

/**
 * On a controller that was enabled with all its command sets, selects the first combination that contains the NVM
 * Command Set (Base 2.3 §3.5.1).
 * @throws DriverError (UNSUPPORTED_CONTROLLER) if there is none.
 */
export async function selectNvmCommandSet(admin: CommandQueue, name: string): Promise<void> {
  const data = await admin.executeForData(Identify, { CNS: CNS.COMMAND_SETS, CNTID: THIS_CONTROLLER })
  const { IOCSC } = IoCommandSets.view(data)
  const combinations = Array.from({ length: data.byteLength / IoCommandSetVector.bytes }, (_, index) => index)
  const chosen = combinations.find((index) => IOCSC.at(index).NVMCS === 1)
  if (chosen === undefined) {
    throw unsupportedController(name, 'no combination of its command sets contains the NVM Command Set')
  }
  const CDW11 = IoCommandSetProfile.CDW11.encode({ IOCSCI: chosen })
  await admin.execute(SetFeatures, { FID: FID.IO_COMMAND_SET_PROFILE, CDW11 })
}
