import { Read, STATUS, Write } from '@gpunvme/nvme-spec'
import type { FaultAction, FaultMatch, FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ServedCommand } from '../controller/command.js'
import type { ReachableMemory } from '../memory/reachable.js'

/** What a fault is matched against. */
export interface Strikable {
  readonly qid: number
  readonly opcode: number
  /** Both undefined for a command that addresses no logical blocks. */
  readonly firstLba: number | undefined
  readonly lastLba: number | undefined
}

const done: Readonly<Record<FaultAction['kind'], true>> = {
  'drop-completion': true,
  'delay-completion': true,
  'duplicate-completion': true,
  status: true,
  'corrupt-cid': true,
  'corrupt-data': true,
  'fatal-status': true,
  'remove-device': true,
}

interface ArmedRule {
  readonly match: FaultMatch
  readonly action: FaultAction
  /** Commands that the other conditions let through so far. */
  seen: number
}

/** A fault plan under way: which rule strikes which command. */
export class Faults {
  private readonly rules: ArmedRule[]

  /** @throws TypeError for a kind of fault that this simulator does not do. */
  constructor(plan: FaultPlan | undefined) {
    this.rules = (plan?.rules ?? []).map(({ match, action }) => {
      if (!Object.hasOwn(done, action.kind)) {
        throw new TypeError(`fault '${action.kind}': nvme-sim does not do it; it does ${Object.keys(done).join(', ')}`)
      }
      return { match, action, seen: 0 }
    })
  }

  get isEmpty(): boolean {
    return this.rules.length === 0
  }

  /** The action of the first rule that strikes this command. Every rule counts every command, whoever strikes it. */
  strike(command: Strikable): FaultAction | undefined {
    let struck: FaultAction | undefined
    for (const rule of this.rules) {
      if (!concerns(rule.match, command)) continue
      rule.seen++
      if (rule.match.nth === undefined || rule.match.nth === rule.seen) struck ??= rule.action
    }
    return struck
  }
}

/** What of a command the conditions of a fault look at. */
export function targetOf(command: ServedCommand): Strikable {
  const { sq, sqe, readWrite } = command
  const hasBlocks = !command.isAdmin() && (sqe.OPC === Read.opcode || sqe.OPC === Write.opcode)
  return {
    qid: sq.qid,
    opcode: sqe.OPC,
    firstLba: hasBlocks ? readWrite.SLBA : undefined,
    lastLba: hasBlocks ? readWrite.SLBA + readWrite.NLB : undefined,
  }
}

/** Changes one byte of what a Read delivered or a Write stored; one beyond the command's data changes nothing. */
export function corruptData(
  { result, sqe, runs, lengthBytes, namespace, slba }: ServedCommand,
  { byte, xor }: { readonly byte: number; readonly xor: number },
  memory: ReachableMemory,
): void {
  if (result !== STATUS.SUCCESS || byte >= lengthBytes) return
  if (sqe.OPC === Write.opcode) {
    const { media, blockBytes } = namespace!
    const block = new Uint8Array(blockBytes)
    const at = slba * blockBytes + byte - (byte % blockBytes)
    media.read(at, block)
    block[byte % blockBytes]! ^= xor
    media.write(at, block)
    return
  }
  let run = 0
  let offset = byte
  while (offset >= runs.lengthBytes[run]!) offset -= runs.lengthBytes[run++]!
  const bytes = memory.bytes(runs.iova[run]! + offset, 1)
  if (bytes) bytes[0]! ^= xor
}

function concerns({ qid, opcode, lba }: FaultMatch, command: Strikable): boolean {
  if (qid !== undefined && qid !== command.qid) return false
  if (opcode !== undefined && opcode !== command.opcode) return false
  if (lba === undefined) return true
  const { firstLba, lastLba } = command
  return firstLba !== undefined && lastLba !== undefined && firstLba <= lba[1] && lastLba >= lba[0]
}
