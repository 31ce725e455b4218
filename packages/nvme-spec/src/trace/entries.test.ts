import { describe, expect, test } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { Identify } from '../admin/identify.js'
import { CQE, decodeCqe, formatCqe, SQE } from '../entries.js'
import { decodeSqe, formatSqe } from '../commands.js'
import { Connect } from '../fabrics/commands.js'
import { Flush, Read } from '../nvm/commands.js'
import { encoded } from '../../test/encoded.js'
import { traceCqe, traceSqe } from './entries.js'

const bytesOf = (raw: string) => fromHex(raw.replace(/../g, '$& '))

describe('traceSqe', () => {
  test('returns the main fields of a Read, all of its bytes, and its text', () => {
    const data = encoded(Read, { CID: 0x412, NSID: 7, PRP1: 0x1234_5000, PRP2: 0x9000, SLBA: 0x3b9f_8000, NLB: 7 })
    const entry = traceSqe(3, data)
    expect(entry).toEqual({
      ...{ qid: 3, cid: 0x412, opcode: 2, name: 'Read', nsid: 7, slba: 0x3b9f_8000, nlb: 7 },
      ...{ prp1: '0x12345000', prp2: '0x9000', raw: entry.raw, text: formatSqe('nvm', data) },
    })
    expect(entry.raw).toMatch(/^0200120407000000/)
    expect(decodeSqe('nvm', bytesOf(entry.raw))).toEqual(decodeSqe('nvm', data))
  })

  test('returns an SLBA of 2^53 or more as digits, and no PRPs if the command has an SGL', () => {
    const data = encoded(Read, { NSID: 1 })
    data.setBigUint64(40, 0xffff_ffff_ffff_ffffn, true)
    data.setUint8(1, 0x40)
    expect(traceSqe(1, data)).toMatchObject({ slba: '18446744073709551615', nlb: 0 })
    expect(Object.keys(traceSqe(1, data))).not.toContain('prp1')
  })

  test('decodes commands of queue 0 as Admin commands, and of others by their command set', () => {
    const data = encoded(Identify, { CID: 1, CNS: 1 })
    expect(traceSqe(0, data)).toMatchObject({ name: 'Identify', opcode: 6 })
    expect(traceSqe(1, data).name).toBe('NVM opcode 0x06')
    const append = SQE.create({ OPC: 0x7d, NSID: 1 }).data
    expect([traceSqe(1, append).name, traceSqe(1, append, 0, 'zns').name]).toEqual(['NVM opcode 0x7d', 'Zone Append'])
  })

  test('returns nsid 0 and no PRPs for a Fabrics command, which has an SGL', () => {
    const entry = traceSqe(1, Connect.create().data)
    expect(entry).toMatchObject({ name: 'Fabrics Command', opcode: 0x7f, nsid: 0 })
    expect(Object.keys(entry)).not.toContain('prp1')
  })

  test('returns no blocks for a command without them, and reads at an offset', () => {
    const bytes = new Uint8Array(80)
    bytes.set(new Uint8Array(encoded(Flush, { CID: 9, NSID: 1 }).buffer), 16)
    const entry = traceSqe(2, bytes, 16)
    expect(entry).toMatchObject({ name: 'Flush', cid: 9, nsid: 1, prp1: '0x0' })
    expect('slba' in entry || 'nlb' in entry).toBe(false)
    expect(() => traceSqe(2, bytes, 17)).toThrow(RangeError)
  })
})

test('traceCqe returns queue, identifier, status, all bytes, and the text', () => {
  const { data } = CQE.create({ DW0: 5, SQHD: 7, SQID: 3, CID: 0x412, STATUS: { P: 1, SCT: 2, SC: 0x81, DNR: 1 } })
  const entry = traceCqe(data)
  expect(entry).toEqual({
    ...{ qid: 3, cid: 0x412, sct: 2, sc: 0x81, status: 'Unrecovered Read Error (SCT 2h SC 81h, DNR)' },
    ...{ raw: '05000000000000000700030012040385', text: formatCqe(data) },
  })
  expect(decodeCqe(bytesOf(entry.raw))).toEqual(decodeCqe(data))
  expect(() => traceCqe(data, 1)).toThrow(RangeError)
})
