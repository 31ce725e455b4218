import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { toHex } from '../../test/bytes.js'
import { decodeVersion, encodeVersion, VFIO_USER_CAPABILITIES, VFIO_USER_VERSION_BYTES } from './version.js'

const data = (text: string) => new Uint8Array(Buffer.from(`\0\0\x01\0${text}`, 'latin1'))

describe('VERSION of vfio-user 0.9.2', () => {
  it('VFIO_USER_CAPABILITIES are the defaults: one descriptor, 1 MiB, 65,535 DMA mappings, pages of 4 KiB', () => {
    expect(VFIO_USER_CAPABILITIES).toEqual({
      maxMsgFds: 1,
      maxDataXferSize: 1_048_576,
      maxDmaMaps: 65_535,
      pgsizes: 4096,
    })
    expect(decodeVersion(data(''))).toEqual({ major: 0, minor: 1, capabilities: VFIO_USER_CAPABILITIES })
    expect(decodeVersion(data('\0')).capabilities).toEqual(VFIO_USER_CAPABILITIES)
    expect(decodeVersion(data('{}\0')).capabilities).toEqual(VFIO_USER_CAPABILITIES)
  })

  it('decodes the data of libvfio-user, which has two of four capabilities', () => {
    const text = '{ "capabilities": { "max_msg_fds": 8, "max_data_xfer_size": 1048576 } }\0'
    expect(decodeVersion(data(text)).capabilities).toEqual({ ...VFIO_USER_CAPABILITIES, maxMsgFds: 8 })
  })

  it('encodes the names of the table, and a terminating NUL', () => {
    const bytes = encodeVersion({
      major: 0,
      minor: 1,
      capabilities: { maxMsgFds: 16, maxDataXferSize: 4096, maxDmaMaps: 3, pgsizes: 2_101_248 },
    })
    expect(toHex(new DataView(bytes.buffer), 0, 4)).toBe('00 00 01 00')
    expect(Buffer.from(bytes.subarray(4)).toString()).toBe(
      '{"capabilities":{"max_msg_fds":16,"max_data_xfer_size":4096,"max_dma_maps":3,"pgsizes":2101248}}\0',
    )
  })

  it('encodes and decodes write_multiple, and ignores values that are not booleans', () => {
    const capabilities = { ...VFIO_USER_CAPABILITIES, writeMultiple: true }
    const bytes = encodeVersion({ major: 0, minor: 0, capabilities })
    expect(Buffer.from(bytes).toString('latin1')).toContain(',"write_multiple":true}}\0')
    expect(decodeVersion(bytes).capabilities).toEqual(capabilities)
    expect(decodeVersion(data('{"capabilities":{"write_multiple":1}}\0')).capabilities).toEqual(VFIO_USER_CAPABILITIES)
  })

  test('decodes what it encodes', () => {
    const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    const capabilities = fc.record({ maxMsgFds: count, maxDataXferSize: count, maxDmaMaps: count, pgsizes: count })
    const half = fc.nat(0xffff)
    fc.assert(
      fc.property(fc.record({ major: half, minor: half, capabilities }), (message) => {
        expect(decodeVersion(encodeVersion(message))).toEqual(message)
      }),
    )
  })

  it.each([
    ['{}', /ends with a NUL/],
    ['{"capabilities"\0', /expected JSON/],
    ['[1]\0', /expected a JSON object, got \[object Array\]/],
    ['null\0', /expected a JSON object/],
    ['{"capabilities":7}\0', /expected capabilities to be an object, got 7/],
    ['{"capabilities":null}\0', /expected capabilities to be an object, got \[object Null\]/],
    ['{"capabilities":{"max_msg_fds":"8"}}\0', /max_msg_fds to be an integer of at least 0, got "8"/],
    ['{"capabilities":{"max_msg_fds":-1}}\0', /got -1/],
    ['{"capabilities":{"max_data_xfer_size":0}}\0', /max_data_xfer_size to be an integer of at least 1, got 0/],
    ['{"capabilities":{"pgsizes":4096.5}}\0', /got 4096.5/],
    ['{"capabilities":{"max_dma_maps":1e300}}\0', /got 1e\+300/],
  ])('rejects %j', (text, message) => {
    expect(() => decodeVersion(data(text))).toThrow(RangeError)
    expect(() => decodeVersion(data(text))).toThrow(message)
  })

  it('rejects data that is too short or too long before parsing it', () => {
    expect(() => decodeVersion(new Uint8Array(3))).toThrow(RangeError)
    expect(() => decodeVersion(new Uint8Array(VFIO_USER_VERSION_BYTES + 1))).toThrow(/at most 4096 bytes, got 4097/)
    expect(() => decodeVersion(data('['.repeat(4091) + '\0'))).toThrow(RangeError)
  })

  it('truncates an invalid text in an error', () => {
    const found = (): string => {
      try {
        decodeVersion(data(`{"capabilities":{"pgsizes":"${'x'.repeat(3000)}"}}\0`))
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(found()).toMatch(/pgsizes/)
    expect(found().length).toBeLessThan(200)
  })

  test('decodes any bytes, or throws a RangeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeVersion(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })

  it('rejects a capability of NaN', () => {
    const message = { major: 0, minor: 0, capabilities: { ...VFIO_USER_CAPABILITIES, pgsizes: Number.NaN } }
    expect(() => encodeVersion(message)).toThrow(/pgsizes to be an integer of at least 1/)
  })
})
