import {
  countOf,
  DirectiveReceive,
  DirectiveSend,
  GetFeatures,
  IoManagementReceive,
  IoManagementSend,
  NamespaceManagement,
  NvmeMiReceive,
  NvmeMiSend,
  SecurityReceive,
  SecuritySend,
  SetFeatures,
  ZoneManagementSend,
  type ZeroBased,
} from '@gpunvme/nvme-spec'
import type { RawCommand, RawOptions } from './raw.js'

/** Commands whose opcode (bits 1:0) indicates a data transfer, although their fields may select none. */
const withOrWithout = [
  ...[DirectiveReceive, DirectiveSend, GetFeatures, NamespaceManagement, NvmeMiReceive, NvmeMiSend],
  ...[SecurityReceive, SecuritySend, SetFeatures, IoManagementReceive, IoManagementSend, ZoneManagementSend],
]

/** Fields that determine how much data a command transfers, and where. */
interface DataFields {
  readonly PRP1?: number
  readonly NLB?: ZeroBased
}

/**
 * Rejects data that does not cover what a command transfers: the controller would access memory beyond it, or address 0
 * if there is no data. A caller that sets PRP1 describes the data itself.
 * @param blockBytes of the command's namespace; undefined if the length does not follow from the blocks.
 * @throws TypeError without data; RangeError for less data than the command's blocks.
 */
export function checkRawData(
  command: RawCommand<never>,
  { PRP1, NLB = 0 as ZeroBased }: DataFields,
  { data }: RawOptions,
  blockBytes?: number,
): void {
  const { name, set, opcode, transfer } = command
  const mayBeNone = withOrWithout.some((each) => each.set === set && each.opcode === opcode)
  if (transfer === 'none' || PRP1 !== undefined) return
  if (data === undefined) {
    if (mayBeNone) return
    throw new TypeError(`${name}: expected { data: { memory } }, since it transfers data, got none`)
  }
  if (!('NLB' in command) || blockBytes === undefined) return
  const { memory, offsetBytes = 0, lengthBytes = memory.lengthBytes - offsetBytes } = data
  const blocks = countOf(NLB)
  if (lengthBytes >= blocks * blockBytes) return
  throw new RangeError(
    `${name}: expected data of ${blocks * blockBytes} bytes for its ${blocks} blocks, got ${lengthBytes}`,
  )
}
