import { decodeCqe, decodeSqe, formatCqe, formatSqe } from '@gpunvme/nvme-spec'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../test/simulated-drive.js'
import { parseCompleted, parseSubmitted, wholeNumber } from './entry-text.js'

/** 200 entries of pseudo-random bytes, most with the opcode of a declared command. */
const SQES = Array.from({ length: 200 }, (_, seed) => {
  const bytes = pattern(64, seed * 7919 + 1)
  bytes[0] = seed % 40
  return new DataView(bytes.buffer)
})

describe('parseSubmitted', () => {
  test('returns command, identifier and fields', () => {
    // NVM 1.2 §3.3.4, as in the test of formatSqe.
    const text =
      'Read CID=0x0412 NSID=1 PRP1=0x123456000 PRP2=0x143457000 SLBA=0x23b9f8000 NLB=255 FUA=1 ' +
      'DSM={ AF=SPECULATIVE AL=NONE SEQREQ=1 INCPRS=0 } ELBTL=287454020'
    const { name, cid, fields } = parseSubmitted(text)!
    expect([name, cid]).toEqual(['Read', 0x412])
    expect(Object.fromEntries(fields)).toMatchObject({ NSID: '1', SLBA: '0x23b9f8000', NLB: '255', ELBTL: '287454020' })
    expect(fields.has('AF')).toBe(false)
  })

  test.each(['admin', 'nvm'] as const)('inverts formatSqe for random entries of the %s queue', (set) => {
    for (const data of SQES) {
      const { command, fields } = decodeSqe(set, data)
      const parsed = parseSubmitted(formatSqe(set, data))
      expect(parsed).toMatchObject({ cid: fields['CID'], ...(command !== undefined && { name: command }) })
      for (const key of ['SLBA', 'NLB'])
        if (key in fields && typeof fields[key] === 'number' && fields[key] > 0)
          expect(wholeNumber(parsed!.fields.get(key)!)).toBe(fields[key])
    }
  })

  test.each(['', ' CID=0x1', 'CID=0x0001 NSID=1', 'Read CID=0x10000', 'Read CID=-1'])('rejects %j', (text) => {
    expect(parseSubmitted(text)).toBeUndefined()
  })
})

describe('parseCompleted', () => {
  test('returns queue, identifier and status', () => {
    expect(
      parseCompleted('CID=0x0412 SQID=1 SQHD=7 P=1 DW0=0x00000001 CRD=2 LBA Out of Range (SCT 0h SC 80h, DNR)'),
    ).toEqual({
      ...{ cid: 0x412, sqid: 1, sct: 0, sc: 0x80 },
      status: 'LBA Out of Range (SCT 0h SC 80h, DNR)',
    })
  })

  test('inverts formatCqe for random entries', () => {
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
  ])('returns undefined for %j', (text) => expect(parseCompleted(text)).toBeUndefined())
})
