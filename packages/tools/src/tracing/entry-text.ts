/** What the text of a submission queue entry says, as `formatSqe` writes it. */
export interface SubmittedEntry {
  /** 'Read'; 'NVM opcode 0xc0' of one that is not declared. */
  readonly name: string
  readonly cid: number
  /** The text of each field that it names: a field that is zero may not be there. */
  readonly fields: ReadonlyMap<string, string>
}

/** What the text of a completion queue entry says, as `formatCqe` writes it. */
export interface CompletedEntry {
  readonly sqid: number
  readonly cid: number
  readonly sct: number
  readonly sc: number
  /** 'LBA Out of Range (SCT 0h SC 80h, DNR)' */
  readonly status: string
}

/** Undefined for text that is no entry. */
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

/** Undefined for text that is no entry. */
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

/** A number as these texts write it: in decimal, or in hexadecimal after 0x. Undefined for others, and beyond `most`. */
export function wholeNumber(text: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = /^(?:\d{1,20}|0x[0-9a-f]{1,16})$/.test(text) ? Number(text) : NaN
  return value <= most ? value : undefined
}
