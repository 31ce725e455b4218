import { STATUS } from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { gather, scatter } from '../memory/runs.js'
import type { Effects } from '../nvm/io-command.js'

/** An Admin command. It takes effect at once when its time has passed. */
export interface AdminCommand {
  readonly effects?: Effects
  /** False if the command does not use NSID (Base 2.1 Figure 141). Default: true. */
  readonly usesNsid?: false
  /** Checks that can fail as soon as the command is fetched. */
  prepare?(command: ServedCommand, device: Device, commands: CommandsUnderWay): Ended | undefined
  perform(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result
}

/** Writes `bytes` to the memory of the command's data pointer, which must have room for `lengthBytes`. */
export function sendData(command: ServedCommand, device: Device, bytes: Uint8Array, lengthBytes = bytes.length): Ended {
  const { PRP1, PRP2 } = command.sqe
  const fault = device.prps.walk(command, PRP1, PRP2, lengthBytes, device.pageBytes, command.runs, 'write')
  return fault ?? scatter(command.runs, device.memory, bytes) ?? STATUS.SUCCESS
}

/** Reads `lengthBytes` from the memory of the command's data pointer, or returns the status of the failure. */
export function receiveData(command: ServedCommand, device: Device, lengthBytes: number): Uint8Array | Ended {
  const { PRP1, PRP2 } = command.sqe
  const bytes = new Uint8Array(lengthBytes)
  const fault = device.prps.walk(command, PRP1, PRP2, lengthBytes, device.pageBytes, command.runs, 'read')
  return fault ?? gather(command.runs, device.memory, bytes) ?? bytes
}
