import {
  CNS,
  FID,
  Identify,
  IoCommandSetProfile,
  IoCommandSets,
  IoCommandSetVector,
  SetFeatures,
} from '@gpunvme/nvme-spec'
import type { CommandQueue } from '../commands/command-queue.js'
import { UnsupportedControllerError } from './ready.js'

/** Controller ID that selects the controller that executes Identify. */
const THIS_CONTROLLER = 0xffff

/**
 * On a controller that was enabled with all its command sets, selects the first combination that contains the NVM
 * Command Set (Base 2.3 §3.5.1).
 * @throws UnsupportedControllerError if there is none.
 */
export async function selectNvmCommandSet(admin: CommandQueue, name: string): Promise<void> {
  const data = await admin.executeForData(Identify, { CNS: CNS.COMMAND_SETS, CNTID: THIS_CONTROLLER })
  const { IOCSC } = IoCommandSets.view(data)
  const combinations = Array.from({ length: data.byteLength / IoCommandSetVector.bytes }, (_, index) => index)
  const chosen = combinations.find((index) => IOCSC.at(index).NVMCS === 1)
  if (chosen === undefined) {
    throw new UnsupportedControllerError(name, 'no combination of its command sets contains the NVM Command Set')
  }
  const CDW11 = IoCommandSetProfile.CDW11.encode({ IOCSCI: chosen })
  await admin.execute(SetFeatures, { FID: FID.IO_COMMAND_SET_PROFILE, CDW11 })
}
