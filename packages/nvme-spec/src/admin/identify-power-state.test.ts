import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../test/bytes.js'
import { valuesOf } from '../../test/figures.js'
import { IdentifyController } from './identify-controller.js'
import { PowerStateDescriptor } from './identify-power-state.js'

// Base 2.1 §5.1.13.2.1, Figure 313: symbol, most and least significant of its 256 bits.
const figure313 = [
  ['MP', 15, 0],
  ['MXPS', 24, 24],
  ['NOPS', 25, 25],
  ['ENLAT', 63, 32],
  ['EXLAT', 95, 64],
  ['RRT', 100, 96],
  ['RRL', 108, 104],
  ['RWT', 116, 112],
  ['RWL', 124, 120],
  ['IDLP', 143, 128],
  ['IPS', 151, 150],
  ['ACTP', 175, 160],
  ['APW', 178, 176],
  ['APS', 183, 182],
  ['EPFRT', 191, 184],
  ['FQVT', 199, 192],
  ['EPFVT', 207, 200],
  ['EPFRTS', 211, 208],
  ['FQVTS', 215, 212],
  ['EPFVTS', 219, 216],
] as const

/** A descriptor as a number of 256 bits, low byte first. */
function descriptorOf(bits: bigint): DataView {
  return fromHex(bits.toString(16).padStart(64, '0').match(/../g)!.toReversed().join(' '))
}

describe('Power State Descriptor (Base 2.1 §5.1.13.2.1, Figure 313)', () => {
  it.each(figure313)('%s is bits %i:%i', (symbol, msb, lsb) => {
    const ones = (1n << BigInt(msb - lsb + 1)) - 1n
    const placed = ones << BigInt(lsb)
    expect(PowerStateDescriptor.view(descriptorOf(placed))[symbol]).toBe(Number(ones))
    expect(PowerStateDescriptor.view(descriptorOf(((1n << 256n) - 1n) ^ placed))[symbol]).toBe(0)
  })

  it('has the fields of the figure and no others, in 32 bytes', () => {
    expect(Object.keys(PowerStateDescriptor.fields)).toEqual(figure313.map(([symbol]) => symbol))
    expect(PowerStateDescriptor.bytes).toBe(32)
  })

  it('maximum power has a scale of 0.01 W or 0.0001 W, the others may have none; the other way round', () => {
    const { MXPS, IPS, APS, APW } = PowerStateDescriptor.fields
    expect(valuesOf(MXPS)).toEqual({ MW_10: 0, UW_100: 1 })
    expect([valuesOf(IPS), valuesOf(APS)]).toEqual([
      { NOT_REPORTED: 0, UW_100: 1, MW_10: 2 },
      { NOT_REPORTED: 0, UW_100: 1, MW_10: 2 },
    ])
    expect(valuesOf(APW)).toEqual({ NO_WORKLOAD: 0, WORKLOAD_1: 1, WORKLOAD_2: 2 })
  })

  // Figure 314
  it.each(['EPFRTS', 'FQVTS', 'EPFVTS'] as const)('%s goes from a microsecond to a million seconds', (symbol) => {
    const names = Object.entries(valuesOf(PowerStateDescriptor.fields[symbol])).map(([name, value]) => [value, name])
    expect(names).toEqual([
      ...[
        [0x0, 'US_1'],
        [0x1, 'US_10'],
        [0x2, 'US_100'],
      ],
      ...[
        [0x3, 'MS_1'],
        [0x4, 'MS_10'],
        [0x5, 'MS_100'],
      ],
      ...[
        [0x6, 'S_1'],
        [0x7, 'S_10'],
        [0x8, 'S_100'],
      ],
      ...[
        [0x9, 'S_1000'],
        [0xa, 'S_10000'],
        [0xb, 'S_100000'],
        [0xc, 'S_1000000'],
      ],
    ])
  })

  // The bytes were read from QEMU 7.2.22 (test/nvme-cli/captured.ts).
  it("QEMU's only power state takes 25 W, 16 us to enter and 4 us to leave", () => {
    const page = new DataView(new ArrayBuffer(4096))
    const state = new Uint8Array(fromHex('c4 09 00 00 10 00 00 00 04 00 00 00').buffer)
    new Uint8Array(page.buffer).set(state, 2048)
    expect(IdentifyController.decode(page).PSD[0]).toMatchObject({ MP: 2500, MXPS: 0, ENLAT: 16, EXLAT: 4, RRT: 0 })
    expect(IdentifyController.describe(page)).toEqual(['PSD[0]={ MP=2500 ENLAT=16 EXLAT=4 }'])
  })

  it('the 32 states of a controller are written and read in their place', () => {
    const id = IdentifyController.create({ PSD: [{ MP: 350 }, { MP: 5, MXPS: 1, NOPS: 1, EXLAT: 10_000 }] })
    id.PSD.at(31).APS = PowerStateDescriptor.APS.MW_10
    expect(toHex(id.data, 2048, 4)).toBe('5e 01 00 00')
    expect(toHex(id.data, 2080, 12)).toBe('05 00 00 03 00 00 00 00 10 27 00 00')
    expect(id.data.getUint8(3062)).toBe(0x80)
    expect(IdentifyController.describe(id.data)).toEqual([
      'PSD[0]={ MP=350 }',
      'PSD[1]={ MP=5 MXPS=UW_100 NOPS=1 EXLAT=10000 }',
      'PSD[31]={ APS=MW_10 }',
    ])
  })
})
