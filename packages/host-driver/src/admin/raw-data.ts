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

/** Bits 1:0 of their opcodes say that they transfer data, and by their fields there may be none. */
const withOrWithout = [
  ...[DirectiveReceive, DirectiveSend, GetFeatures, NamespaceManagement, NvmeMiReceive, NvmeMiSend],
  ...[SecurityReceive, SecuritySend, SetFeatures, IoManagementReceive, IoManagementSend, ZoneManagementSend],
]

/** What a command names that says how much it transfers, and where, whatever else it has. */
interface DataFields {
  readonly PRP1?: number
  readonly NLB?: ZeroBased
}

/**
 * Refuses data that does not cover what a command transfers: the controller would go on past it, to address 0 even
 * where there is none. Whoever gives PRP1 has described it without us.
 * @param blockBytes of the command's namespace; undefined where blocks are not transferred as they are.
 * @throws TypeError without data, RangeError for less than the command's blocks.
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
