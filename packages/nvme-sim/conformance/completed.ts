import type { Completion, Entry } from './raw-host/entry.js'

/** A completion, with a description of its command. */
export interface Completed extends Completion {
  /** Description of the command for messages, or of SQ and CID if there is no such command. */
  readonly request: string
}

/** Describes a command, as in 'Admin command 05h with CDW10 3f0001h, CDW11 1h'. */
export function describe(qid: number, { opcode, nsid, prp1, prp2, cdw = {} }: Entry): string {
  const fields = [
    ...Object.entries({ NSID: nsid, PRP1: prp1, PRP2: prp2 }),
    ...Object.entries(cdw).map(([dword, value]) => [`CDW${dword}`, value >>> 0] as const),
  ].filter((field): field is [string, number] => field[1] !== undefined)
  const where = qid === 0 ? 'Admin command' : `SQ ${qid}: command`
  const values = fields.map(([name, value]) => `${name} ${value.toString(16)}h`).join(', ')
  return `${where} ${opcode.toString(16).padStart(2, '0')}h${values && ` with ${values}`}`
}
