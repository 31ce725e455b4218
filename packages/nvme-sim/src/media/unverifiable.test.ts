import { describe, expect, it } from 'vitest'
import { bytesOf, ready } from '../../test/host.js'
import { at, onBlocks } from '../../test/nvm.js'
import { textsOf } from '../../test/diagnostics.js'
import { simulate, unverifiableMedia } from '../index.js'

const SUCCESS = '0/00'
const UNRECOVERED_READ_ERROR = '2/81'

const still = (metadata = {}) => ({
  namespaces: [{ media: unverifiableMedia({ capacityBytes: 1 << 20 }), ...metadata }],
})

describe('unverifiable media', () => {
  it('make `movesData` of the transport false, even if another namespace has other media', () => {
    const [{ media }] = still().namespaces as [{ media: ReturnType<typeof unverifiableMedia> }]
    expect(simulate({ namespaces: [{ nsid: 1 }, { nsid: 2, media }] }).transport.movesData).toBe(false)
    expect('movesData' in simulate().transport).toBe(false)
  })

  it.each([
    ['', {}, 1024],
    [' with metadata', { metadataBytes: 8, extendedLba: true } as const, 1040],
  ])('leave the memory of a Read%s unchanged, but count its bytes', async (_, metadata, moved) => {
    const host = await ready(still(metadata))
    const memory = host.alloc(4096)
    bytesOf(memory).fill(0xa5)
    const pointer = at(host, memory, 0, moved)
    expect((await host.command(1, onBlocks(0x01, 0, 2, pointer))).status).toBe(SUCCESS)
    expect((await host.command(1, onBlocks(0x02, 0, 2, pointer))).status).toBe(SUCCESS)
    expect(bytesOf(memory).every((byte) => byte === 0xa5)).toBe(true)
    expect(host.simulation.statistics).toMatchObject({ bytesRead: moved, bytesWritten: moved })
  })

  it.each([
    ['Compare', 0x05],
    ['Verify', 0x0c],
  ])('fail a %s with a diagnostic', async (_, opcode) => {
    const host = await ready(still())
    const completed = await host.command(1, onBlocks(opcode, 0, 1, at(host, host.alloc(512))))
    expect(completed).toMatchObject({ status: UNRECOVERED_READ_ERROR, dnr: true })
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'namespace 1 has media that move no bytes: its contents cannot be checked',
    ])
  })

  it('report no read behaviour of deallocated blocks in DLFEAT, and reject Namespace Zeroes', async () => {
    const host = await ready(still())
    const data = host.alloc(4096)
    await host.admin({ opcode: 0x06, nsid: 1, prp1: data.iovaAt(0) })
    expect(data.view.getUint8(33)).toBe(0x08)
    expect((await host.command(1, onBlocks(0x08, 0, 1, {}, (1 << 23) | (1 << 25)))).status).toBe('0/02')
    expect((await host.command(1, onBlocks(0x08, 0, 1))).status).toBe(SUCCESS)
  })

  it.each([0, 511, 1.5, Number.NaN])('reject a capacity of %d bytes', (capacityBytes) => {
    expect(() => unverifiableMedia({ capacityBytes })).toThrow(
      'unverifiableMedia.capacityBytes: expected a whole number of bytes, 512 or more, got',
    )
  })
})

it('unverifiableMedia rejects missing and unknown options', () => {
  expect(() => unverifiableMedia(undefined as never)).toThrow('unverifiableMedia: expected an object, got undefined')
  expect(() => unverifiableMedia({ capacity: 512 } as never)).toThrow("unverifiableMedia: unknown 'capacity'")
})
