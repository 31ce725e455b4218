import { describe, expect, test } from 'vitest'
import { decodeConfig } from './config-space.js'

/** Returns a configuration space header of vendor 15b7h with a capability list at 40h. */
function header(lengthBytes: number): Uint8Array {
  const bytes = new Uint8Array(lengthBytes)
  bytes.set([0xb7, 0x15, 0x15, 0x50, 0x06, 0x00, 0x10, 0x00])
  bytes[0x34] = 0x40
  return bytes
}

describe('decodeConfig', () => {
  test('decodes 64 bytes, and reports that the rest needs root', () => {
    const facts = decodeConfig(header(64), 'unread')
    expect(facts.canMasterBus).toBe(true)
    expect(facts.acs).toEqual({ unknown: 'needs root: other users see 64 bytes of configuration space' })
  })

  test('reports all ones as a function off the bus', () => {
    const facts = decodeConfig(new Uint8Array(4096).fill(0xff), 'unread')
    expect(facts.isResponding).toBe(false)
    expect(facts.packets).toEqual({ unknown: 'off the bus: reads as all ones' })
  })

  test('returns the given reason without bytes', () => {
    expect(decodeConfig(undefined, 'it sleeps').packets).toEqual({ unknown: 'it sleeps' })
  })

  test('reports a cyclic capability list', () => {
    const bytes = header(4096)
    bytes[0x40] = 0x01
    bytes[0x41] = 0x40
    expect(decodeConfig(bytes, 'unread').aspm).toEqual({ unknown: 'PCI capability list: loops back to 0x40' })
  })

  test('reports reserved packet sizes as unknown', () => {
    const bytes = header(4096)
    bytes.set([0x10, 0x00, 0x02, 0x00, 0x07], 0x40) // PCI Express, Max_Payload_Size Supported 7
    expect(decodeConfig(bytes, 'unread').packets).toEqual({ unknown: 'its packet sizes are reserved values' })
  })

  test('limits a Resizable BAR capability to the configuration space', () => {
    const bytes = header(4096)
    bytes.set([0x10, 0x00, 0x02, 0x00], 0x40)
    new DataView(bytes.buffer).setUint32(0x100, (0xff0 << 20) | 0x1_0015, true)
    new DataView(bytes.buffer).setUint32(0xff0, 0x1_0015, true)
    new DataView(bytes.buffer).setUint32(0xff8, 0xe0, true) // 7 BARs
    expect(decodeConfig(bytes, 'unread').resizableBars).toEqual([{ bar: 0, sizeBytes: 2 ** 20, sizesBytes: [] }])
  })

  test('returns a result for random bytes', () => {
    let seed = 9
    // The generator of Numerical Recipes: reproducible bytes.
    const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) >>> 24
    const isBroken = new Set<boolean>()
    for (let round = 0; round < 500; round++) {
      const bytes = header([64, 256, 4096][round % 3]!)
      for (let at = 0x34; at < bytes.length; at++) if (random() < 200) bytes[at] = random()
      const { packets } = decodeConfig(bytes, 'unread')
      isBroken.add(packets !== undefined && 'unknown' in packets)
    }
    expect(isBroken.size).toBe(2)
  }, 60_000)
})
