import { Identify } from '@gpunvme/nvme-spec'
import { anything, checkOptions, having, type Checks } from '../check-options.js'
import { adminOptions, type AdminOptions, type AdminReads } from './admin-commands.js'

/** Decodes bytes as a structure, as each structure declaration of nvme-spec does. */
export interface Decodable<T> {
  /** Returns the fields of the structure in `data`. */
  decode(data: DataView): T
}

/** Fields of Identify besides CNS. Default: 0 each. */
export interface IdentifyOptions extends AdminOptions {
  readonly nsid?: number
  /** Command Set Identifier, `CSI` of nvme-spec. */
  readonly csi?: number
  readonly controllerId?: number
  /** CNS Specific Identifier. */
  readonly specificId?: number
}

const identifyOptions: Checks<IdentifyOptions> = {
  nsid: anything,
  csi: anything,
  controllerId: anything,
  specificId: anything,
  ...adminOptions,
}

const checkStructure = having('a structure of nvme-spec', ['decode'])

/** Sends Identify and decodes its data. @throws TypeError for anything but a structure, before it is sent. */
export async function identifyAs<T>(
  admin: AdminReads,
  cns: number,
  structure: Decodable<T>,
  options?: IdentifyOptions,
): Promise<T> {
  checkStructure('structure', structure)
  return structure.decode(await identify(admin, cns, options))
}

/** Sends Identify and returns its 4096 bytes (Base 2.1 §5.1.13). @param cns `CNS` of nvme-spec. */
export async function identify(admin: AdminReads, cns: number, options: IdentifyOptions = {}): Promise<DataView> {
  checkOptions('identify', options, identifyOptions)
  const { nsid = 0, csi = 0, controllerId = 0, specificId = 0, timeoutNs } = options
  const values = { CNS: cns, NSID: nsid, CSI: csi, CNTID: controllerId, CNSSID: specificId }
  return (await admin.repeat((queue) => queue.exchange(Identify, values, { timeoutNs }))).data
}
