import { CNS, CSI, Identify, STATUS } from '@gpunvme/nvme-spec'
import { CommandError } from '../commands/errors.js'
import { blockCommandLimits, type BlockCommandLimits } from '../namespace/limits.js'
import { anything, checkOptions, type Checks } from '../check-options.js'
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

/** Sends Identify and returns its 4096 bytes (Base 2.1 §5.1.13). @param cns `CNS` of nvme-spec. */
export async function identify(admin: AdminReads, cns: number, options: IdentifyOptions = {}): Promise<DataView> {
  checkOptions('identify', options, identifyOptions)
  const { nsid = 0, csi = 0, controllerId = 0, specificId = 0, timeoutNs } = options
  const values = { CNS: cns, NSID: nsid, CSI: csi, CNTID: controllerId, CNSSID: specificId }
  return (await admin.repeat((queue) => queue.exchange(Identify, values, { timeoutNs }))).data
}

/** Reads the controller's limits of each command of the NVM Command Set. @param mpsmin CAP.MPSMIN */
export async function readBlockCommandLimits(admin: AdminReads, mpsmin: number): Promise<BlockCommandLimits> {
  const nvm = await identify(admin, CNS.COMMAND_SET_CONTROLLER, { csi: CSI.NVM }).catch((error: unknown) => {
    const { sct, sc } = STATUS.INVALID_FIELD_IN_COMMAND
    // Controllers before revision 2.0 do not have this page.
    if (error instanceof CommandError && error.sct === sct && error.sc === sc) return undefined
    throw error
  })
  return blockCommandLimits(admin.identity.raw, nvm, mpsmin)
}
