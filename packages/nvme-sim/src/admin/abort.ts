import { Abort, countOf, STATUS, zeroBased } from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import type { AdminCommand } from './admin-command.js'

/** Default of ACL, if the profile does not set it. */
export const ABORT_COMMAND_LIMIT = zeroBased(4)

/** Abort (Base 2.3 §5.2.1). */
export const abort: AdminCommand = { usesNsid: false, prepare: refuseExcess, perform }

/** The limit applies to Aborts in progress, including this one. */
function refuseExcess(command: ServedCommand, { profile }: Device, commands: CommandsUnderWay): Ended | undefined {
  const limit = countOf(profile.identify.ACL ?? ABORT_COMMAND_LIMIT)
  return commands.countAdmin(command.sqe.OPC) > limit ? STATUS.ABORT_COMMAND_LIMIT_EXCEEDED : undefined
}

/**
 * Bit 0 of DW0 is set if the command was not aborted, because it had completed or never existed (Base 2.3 §5.2.1.2).
 */
function perform(command: ServedCommand, { events }: Device, commands: CommandsUnderWay): Result {
  const { SQID, ABORTED_CID } = Abort.view(command.data)
  if (SQID === 0 && events.abort(ABORTED_CID)) {
    commands.answer(ABORTED_CID, 0, STATUS.COMMAND_ABORT_REQUESTED)
    command.dw0 = 0
  } else command.dw0 = commands.abort(SQID, ABORTED_CID, command) ? 0 : 1
  return STATUS.SUCCESS
}
