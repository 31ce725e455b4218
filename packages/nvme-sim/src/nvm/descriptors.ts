import type { StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { gather } from '../memory/runs.js'
import { prepareData } from './checks.js'

/** Fetches the range descriptors in a command's data, early enough to reject them. */
export function fetchDescriptors(command: ServedCommand, device: Device, lengthBytes: number): DataView | StatusCode {
  const list = new DataView(new ArrayBuffer(lengthBytes))
  return prepareData(command, device, lengthBytes) ?? gather(command.runs, device.memory, bytesOf(list)) ?? list
}

function bytesOf({ buffer }: DataView): Uint8Array {
  return new Uint8Array(buffer)
}
