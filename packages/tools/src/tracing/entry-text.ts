/** A submission queue entry parsed from the text of `formatSqe`. */
export interface SubmittedEntry {
  /** 'Read'; 'NVM opcode 0xc0' for an undeclared one. */
  readonly name: string
  readonly cid: number
  /** Text of each printed field; zero fields may be omitted. */
  readonly fields: ReadonlyMap<string, string>
}

/** A completion queue entry parsed from the text of `formatCqe`. */
export interface CompletedEntry {
  readonly sqid: number
  readonly cid: number
  readonly sct: number
  readonly sc: number
  /** 'LBA Out of Range (SCT 0h SC 80h, DNR)' */
  readonly status: string
}

/** Undefined for other text. */
export function parseSubmitted(text: string): SubmittedEntry | undefined {
  const first = /(?:^| )[A-Z][A-Za-z0-9_]*=/.exec(text)?.index ?? text.length
  const name = text.slice(0, first)
  if (name === '') return undefined
  const fields = new Map<string, string>()
  for (const [, key = '', value = ''] of text.slice(first).matchAll(/ ([A-Z][A-Za-z0-9_]*)=(\{[^}]*\}|[^\s{}]+)/g)) {
    fields.set(key, value)
  }
  const cid = wholeNumber(fields.get('CID') ?? '0', 0xffff)
  return cid === undefined ? undefined : { name, cid, fields }
}

/** Undefined for other text. */
export function parseCompleted(text: string): CompletedEntry | undefined {
  const [, cidText = '', sqidText = '', status = '', sctText = '', scText = ''] =
    /^CID=(\w+) SQID=(\w+) SQHD=\w+ P=[01](?: (?:DW0|DW1|CRD)=\w+)* (\S.*\(SCT ([0-7])h SC ([0-9A-F]{2})h[^()]*\))$/.exec(
      text,
    ) ?? []
  const cid = wholeNumber(cidText, 0xffff)
  const sqid = wholeNumber(sqidText, 0xffff)
  if (cid === undefined || sqid === undefined) return undefined
  return { sqid, cid, sct: Number(sctText), sc: Number.parseInt(scText, 16), status }
}

/** Parses a number of these texts: decimal, or hexadecimal after 0x. Undefined for others, and above `most`. */
export function wholeNumber(text: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = /^(?:\d{1,20}|0x[0-9a-f]{1,16})$/.test(text) ? Number(text) : NaN
  return value <= most ? value : undefined
}
