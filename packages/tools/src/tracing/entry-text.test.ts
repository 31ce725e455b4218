import { decodeCqe, decodeSqe, formatCqe, formatSqe } from '@gpunvme/nvme-spec'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../test/simulated-drive.js'
import { parseCompleted, parseSubmitted, wholeNumber } from './entry-text.js'

/** Any bytes: 200 entries, most of them of commands that are declared. */
const SQES = Array.from({ length: 200 }, (_, seed) => {
  const bytes = pattern(64, seed * 7919 + 1)
  bytes[0] = seed % 40
  return new DataView(bytes.buffer)
})

describe('a submission as a trace writes it', () => {
  test('is its command, its identifier and its fields', () => {
    // NVM 1.2 §3.3.4, as formatSqe's own test has it.
    const text =
      'Read CID=0x0412 NSID=1 PRP1=0x123456000 PRP2=0x143457000 SLBA=0x23b9f8000 NLB=255 FUA=1 ' +
      'DSM={ AF=SPECULATIVE AL=NONE SEQREQ=1 INCPRS=0 } ELBTL=287454020'
    const { name, cid, fields } = parseSubmitted(text)!
    expect([name, cid]).toEqual(['Read', 0x412])
    expect(Object.fromEntries(fields)).toMatchObject({ NSID: '1', SLBA: '0x23b9f8000', NLB: '255', ELBTL: '287454020' })
    expect(fields.has('AF')).toBe(false)
  })

  test.each(['admin', 'nvm'] as const)(
    'is read back from every entry of the %s queue, whatever its bytes are',
    (set) => {
      for (const data of SQES) {
        const { command, fields } = decodeSqe(set, data)
        const parsed = parseSubmitted(formatSqe(set, data))
        expect(parsed).toMatchObject({ cid: fields['CID'], ...(command !== undefined && { name: command }) })
        for (const key of ['SLBA', 'NLB'])
          if (key in fields && typeof fields[key] === 'number' && fields[key] > 0)
            expect(wholeNumber(parsed!.fields.get(key)!)).toBe(fields[key])
      }
    },
  )

  test.each(['', ' CID=0x1', 'CID=0x0001 NSID=1', 'Read CID=0x10000', 'Read CID=-1'])('is not %j', (text) => {
    expect(parseSubmitted(text)).toBeUndefined()
  })
})

describe('a completion as a trace writes it', () => {
  test('is its queue, its identifier and its status', () => {
    expect(
      parseCompleted('CID=0x0412 SQID=1 SQHD=7 P=1 DW0=0x00000001 CRD=2 LBA Out of Range (SCT 0h SC 80h, DNR)'),
    ).toEqual({
      ...{ cid: 0x412, sqid: 1, sct: 0, sc: 0x80 },
      status: 'LBA Out of Range (SCT 0h SC 80h, DNR)',
    })
  })

  test('is read back from every entry, whatever its bytes are', () => {
    for (const data of SQES) {
      const { CID, SQID, status } = decodeCqe(data)
      expect(parseCompleted(formatCqe(data))).toMatchObject({ cid: CID, sqid: SQID, sct: status.sct, sc: status.sc })
    }
  })

  test.each([
    '',
    'CID=0x0412',
    'in memory that this transport has not handed out',
    'CID=0x10000 SQID=1 SQHD=7 P=1 X (SCT 0h SC 00h)',
  ])('is not %j', (text) => expect(parseCompleted(text)).toBeUndefined())
})
