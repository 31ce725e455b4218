import { expect, it } from 'vitest'
import { decodeStaticBar1Info, FB_GET_STATIC_BAR1_INFO, queryStaticBar1, StaticBar1Info } from './static-bar1-info.js'
import { VramRefusedError } from './provider.js'

// Bytes written by a driver: NvBool is one byte, NvU64 are aligned to 8 (ctrl2080fb.h of 590.48.01 and of 565.77).
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
const AT_512_MIB = bytes('01 00 000000000000 0000002000000000 0000000006000000')
const AT_24_MIB = bytes('01 01 000000000000 0000800100000000 0000000006000000')
const OF_565 = bytes('01 00000000000000 0000000006000000')
const DISABLED = bytes('00 00 000000000000 0000000000000000 0000000000000000')

it('decodes state, offset and size of the window', () => {
  const lengthBytes = 25_769_803_776
  expect(decodeStaticBar1Info(AT_512_MIB)).toEqual({ isEnabled: true, offsetBytes: 536_870_912, lengthBytes })
  expect(decodeStaticBar1Info(AT_24_MIB)).toEqual({ isEnabled: true, offsetBytes: 25_165_824, lengthBytes })
  expect(decodeStaticBar1Info(DISABLED)).toEqual({ isEnabled: false, offsetBytes: 0, lengthBytes: 0 })
})

it('decodes the structure of driver 565, whose window starts at BAR1', () => {
  expect(decodeStaticBar1Info(OF_565)).toEqual({ isEnabled: true, offsetBytes: 0, lengthBytes: 25_769_803_776 })
})

it('encodes the bytes that a driver writes', () => {
  const data = new DataView(new ArrayBuffer(24))
  StaticBar1Info.encode(data, 0, { ENABLED: 1, START_OFFSET: 0x2000_0000n, SIZE: 0x6_0000_0000n })
  expect([...new Uint8Array(data.buffer)]).toEqual([...AT_512_MIB])
})

it('sends control 20801354h, first with 24 bytes, then with 16', () => {
  const asked: [number, number][] = []
  const window = queryStaticBar1((command, parameters) => {
    asked.push([command, parameters.length])
    if (parameters.length !== 16) return 0x3a // NV_ERR_INVALID_PARAM_STRUCT
    parameters.set(OF_565)
    return 0
  })
  expect(FB_GET_STATIC_BAR1_INFO).toBe(0x2080_1354)
  expect(asked).toEqual([
    [0x2080_1354, 24],
    [0x2080_1354, 16],
  ])
  expect(window.lengthBytes).toBe(25_769_803_776)
})

it('rejects a driver that supports neither size, with both statuses', () => {
  expect(() => queryStaticBar1(() => 0x56)).toThrow(/status 0x56 with 24 bytes, 0x56 with 16/)
})

it('rejects impossible values and structures of another length', () => {
  const refused = (parameters: Uint8Array) => () => decodeStaticBar1Info(parameters)
  expect(refused(bytes('02 00 000000000000 0000002000000000 0000000006000000'))).toThrow(VramRefusedError)
  expect(refused(bytes('01 00 000000000000 00000000000000ff 0000000006000000'))).toThrow(
    /START_OFFSET=0xff00000000000000/,
  )
  expect(refused(new Uint8Array(20))).toThrow(RangeError)
})
