import {
  Compare,
  Copy,
  DatasetManagement,
  Flush,
  Read,
  STATUS,
  Verify,
  Write,
  WriteUncorrectable,
  WriteZeroes,
} from '@gpunvme/nvme-spec'
import { prepareNamespace } from './checks.js'
import { compare, verify } from './compare-verify.js'
import { copy } from './copy.js'
import { datasetManagement, writeZeroes } from './deallocate.js'
import type { IoCommand } from './io-command.js'
import { BROADCAST_NSID } from './namespaces.js'
import { read, write } from './read-write.js'
import { writeUncorrectable } from './unreadable.js'

const flush: IoCommand = {
  work: 'flush',
  direction: 'none',
  prepare: (command, device) => (command.sqe.NSID === BROADCAST_NSID ? undefined : prepareNamespace(command, device)),
  perform({ sqe }, { namespaces }) {
    // Identify reports that Flush supports the broadcast NSID (VWC.FB = 11b), for all namespaces.
    for (const { nsid, media } of namespaces.active) {
      if (sqe.NSID === BROADCAST_NSID || sqe.NSID === nsid) media.flush()
    }
    return STATUS.SUCCESS
  },
}

/** The I/O commands by opcode; all others fail with Invalid Command Opcode. */
export const ioCommands: readonly (IoCommand | undefined)[] = byOpcode([
  [Flush.opcode, flush],
  [Write.opcode, write],
  [Read.opcode, read],
  [WriteUncorrectable.opcode, writeUncorrectable],
  [Compare.opcode, compare],
  [WriteZeroes.opcode, writeZeroes],
  [DatasetManagement.opcode, datasetManagement],
  [Verify.opcode, verify],
  [Copy.opcode, copy],
])

function byOpcode(commands: readonly (readonly [opcode: number, command: IoCommand])[]) {
  const table = new Array<IoCommand | undefined>(256).fill(undefined)
  for (const [opcode, command] of commands) table[opcode] = command
  return table
}
