import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { TELEMETRY_BLOCK_BYTES, TelemetryControllerHeader, TelemetryHostHeader } from './log-telemetry.js'

const scopes = { NOT_REPORTED: 0, CONTROLLER: 1, NVM_SUBSYSTEM: 2 }
const dump = { 5: '44 1b 00 01 00 02 01 ff ff', 16: '00 00 01 00', 384: 'aa', 511: 'bb' }

describe('Telemetry Host-Initiated (LID 07h, Base 2.1 §5.1.12.1.8)', () => {
  it('begins as in Figure 214', () => {
    expect([TelemetryHostHeader.bytes, TELEMETRY_BLOCK_BYTES, ...bytesOf(TelemetryHostHeader)]).toEqual([
      512,
      512,
      ['LID', 0, 1],
      ['IEEE', 5, 3],
      ['THDA1LB', 8, 2],
      ['THDA2LB', 10, 2],
      ['THDA3LB', 12, 2],
      ['THDA4LB', 16, 4],
      ['THS', 380, 1],
      ['THDGN', 381, 1],
      ['TCDA', 382, 1],
      ['TCDGN', 383, 1],
      ['RID', 384, 128],
    ])
    expect(valuesOf(TelemetryHostHeader.fields.THS)).toEqual(scopes)
  })

  it('decodes a header', () => {
    const decoded = TelemetryHostHeader.decode(sparse(512, { ...dump, 0: '07', 380: '02 ff 01 03' }))
    expect(decoded).toMatchObject({
      ...{ LID: 7, IEEE: Uint8Array.of(0x44, 0x1b, 0x00), THDA1LB: 1, THDA2LB: 258, THDA3LB: 65_535 },
      ...{ THDA4LB: 65_536, THS: 2, THDGN: 255, TCDA: 1, TCDGN: 3 },
    })
    expect([decoded.RID[0], decoded.RID[1], decoded.RID[127]]).toEqual([0xaa, 0, 0xbb])
  })
})

describe('Telemetry Controller-Initiated (LID 08h, Base 2.1 §5.1.12.1.9)', () => {
  it('begins as in Figure 216', () => {
    expect([TelemetryControllerHeader.bytes, ...bytesOf(TelemetryControllerHeader)]).toEqual([
      512,
      ['LID', 0, 1],
      ['IEEE', 5, 3],
      ['TCDA1LB', 8, 2],
      ['TCDA2LB', 10, 2],
      ['TCDA3LB', 12, 2],
      ['TCDA4LB', 16, 4],
      ['TCS', 381, 1],
      ['TCDA', 382, 1],
      ['TCDGN', 383, 1],
      ['RID', 384, 128],
    ])
    expect(valuesOf(TelemetryControllerHeader.fields.TCS)).toEqual(scopes)
  })

  it('decodes a header', () => {
    const page = sparse(512, { ...dump, 0: '08', 381: '01 01 2a' })
    expect(TelemetryControllerHeader.decode(page)).toMatchObject({
      ...{ LID: 8, TCDA1LB: 1, TCDA2LB: 258, TCDA3LB: 65_535, TCDA4LB: 65_536, TCS: 1, TCDA: 1, TCDGN: 42 },
    })
    expect(TelemetryControllerHeader.describe(page)).toContain('TCS=CONTROLLER')
  })
})
