/** Trace events. `@gpunvme/nvme-spec/trace` writes them. */

/** One event, for a trace writer of `@gpunvme/nvme-spec/trace`. */
export interface TraceEvent {
  /** Time of the event or of its start: nanoseconds of the transport's clock, below 2^53. */
  readonly timeNs: number
  /** Where it happened: 'bar', 'sq 1', 'slot 0'. */
  readonly track: string
  /** Event name, one or two words: 'fetch', 'write CC'. */
  readonly name: string
  /** Duration; absent for an instant. */
  readonly durationNs?: number
  /**
   * The command, where an event is about its submission queue entry: submitted by the host, fetched by the controller.
   */
  readonly command?: TraceCommand
  /** The completion, where an event is about a completion queue entry: posted by the controller, seen by the host. */
  readonly completion?: TraceCompletion
  /**
   * Further facts. Text that names its own fields, such as that of a register's `format`, is printed without its key.
   */
  readonly details?: Readonly<Record<string, string | number>>
}

/** A submission queue entry in a trace, made by `traceSqe` of `@gpunvme/nvme-spec/trace`. */
export interface TraceCommand {
  /** Queue that the command was submitted to. */
  readonly qid: number
  readonly cid: number
  readonly opcode: number
  /** 'Read'; 'NVM opcode 0xc0' for an undeclared one; 'Fabrics Command' for opcode 7Fh. */
  readonly name: string
  /** Namespace Identifier; 0 for Fabrics commands, which have none. */
  readonly nsid: number
  /** First block, of commands that have one; a decimal string from 2^53 on. */
  readonly slba?: number | string
  /** Number of blocks minus 1, as in the entry, of commands that have it. */
  readonly nlb?: number
  /** Data pointer of commands that use PRPs: '0x12345000'. */
  readonly prp1?: string
  readonly prp2?: string
  /** The entry, 64 bytes in hexadecimal. */
  readonly raw: string
  /** The entry as `formatSqe` prints it. */
  readonly text: string
}

/** A completion queue entry in a trace, made by `traceCqe` of `@gpunvme/nvme-spec/trace`. */
export interface TraceCompletion {
  /** Queue that the command was submitted to (SQID). */
  readonly qid: number
  readonly cid: number
  /** Status Code Type and Status Code. */
  readonly sct: number
  readonly sc: number
  /** 'LBA Out of Range (SCT 0h SC 80h, DNR)' */
  readonly status: string
  /** The entry, 16 bytes in hexadecimal. */
  readonly raw: string
  /** The entry as `formatCqe` prints it. */
  readonly text: string
}

/** Receives events as they happen. Every trace writer is one. */
export type TraceSink = (event: TraceEvent) => void
