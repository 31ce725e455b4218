import { struct, u64, u8 } from '@gpunvme/nvme-spec/layout'
import type { RmControl } from '../rm/index.js'
import { hex } from './segments.js'
import { VramRefusedError } from './provider.js'

/*
 * The control of NVIDIA's driver that reports its static BAR1 window. Names are those of its header ctrl2080fb.h, without the
 * prefix. Source: drivers 565.77, 570.86.15, 575.51.02, 580.65.06, 590.48.01 and 595.45.04. Not tried on a GPU yet.
 */

/** NV2080_CTRL_CMD_FB_GET_STATIC_BAR1_INFO, a control of a subdevice. */
export const FB_GET_STATIC_BAR1_INFO = 0x2080_1354

/** Parameters since 570.86. Before 580, the second byte is padding. */
export const StaticBar1Info = struct(
  'NV2080_CTRL_FB_GET_STATIC_BAR1_INFO_PARAMS',
  { bytes: 24, doc: 'Location of the static BAR1 window', spec: 'vendor NVIDIA 590.48.01 ctrl2080fb.h' },
  {
    ENABLED: u8(0, 'Whether there is a window'),
    WRITE_COMBINED: u8(1, 'Whether it is mapped write-combined, since 580'),
    START_OFFSET: u64(8, 'Offset of the window in BAR1'),
    SIZE: u64(16, 'Bytes'),
  },
)

/** Parameters in 565, whose window always starts at offset 0 of BAR1. */
export const StaticBar1Info565 = struct(
  'NV2080_CTRL_FB_GET_STATIC_BAR1_INFO_PARAMS',
  { bytes: 16, doc: 'Length of the static BAR1 window', spec: 'vendor NVIDIA 565.77 ctrl2080fb.h' },
  {
    ENABLED: u8(0, 'Whether there is a window'),
    SIZE: u64(8, 'Bytes'),
  },
)

/** The part of BAR1 that maps the GPU's memory from its address 0 on, without gaps. */
export interface StaticBar1Window {
  readonly isEnabled: boolean
  /** Offset in BAR1: 0, or the space for a console and mailboxes; 24 MiB and 512 MiB are known. */
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/**
 * Returns the static BAR1 window, by the structure of current drivers or, if that is refused, of 565. A driver refuses a
 * structure of another size, so a reply cannot be misread.
 * @param control sends a control to a subdevice: `controlSubdevice` of `ResourceManager`.
 * @throws VramRefusedError 'query-failed'
 */
export function queryStaticBar1(control: RmControl): StaticBar1Window {
  const parameters = new Uint8Array(StaticBar1Info.bytes)
  const status = control(FB_GET_STATIC_BAR1_INFO, parameters)
  if (status === 0) return decodeStaticBar1Info(parameters)
  const older = new Uint8Array(StaticBar1Info565.bytes)
  const olderStatus = control(FB_GET_STATIC_BAR1_INFO, older)
  if (olderStatus === 0) return decodeStaticBar1Info(older)
  throw new VramRefusedError({
    provider: 'static BAR1',
    reason: 'query-failed',
    found: 'the driver does not report its window',
    facts: [`FB_GET_STATIC_BAR1_INFO: status ${hex(status)} with 24 bytes, ${hex(olderStatus)} with 16`],
    next: 'use NVIDIA driver 565.77 or newer, and a GPU of the Turing generation or newer',
  })
}

/**
 * Decodes the driver's reply; its length determines the structure.
 * @throws RangeError for another length; VramRefusedError 'query-failed' for invalid values.
 */
export function decodeStaticBar1Info(parameters: Uint8Array): StaticBar1Window {
  const data = new DataView(parameters.buffer, parameters.byteOffset, parameters.byteLength)
  if (![StaticBar1Info.bytes, StaticBar1Info565.bytes].includes(data.byteLength))
    throw new RangeError(`parameters: expected 24 or 16 bytes, got ${data.byteLength}`)
  const isOld = data.byteLength === StaticBar1Info565.bytes
  const { ENABLED, SIZE } = (isOld ? StaticBar1Info565 : StaticBar1Info).view(data)
  const START_OFFSET = isOld ? 0n : StaticBar1Info.view(data).START_OFFSET
  if (ENABLED > 1 || START_OFFSET >= 2n ** 52n || SIZE >= 2n ** 52n)
    throw new VramRefusedError({
      provider: 'static BAR1',
      reason: 'query-failed',
      found: 'the driver returned invalid values',
      facts: [`ENABLED=${ENABLED} START_OFFSET=${hex(START_OFFSET)} SIZE=${hex(SIZE)}`],
    })
  return { isEnabled: ENABLED === 1, offsetBytes: Number(START_OFFSET), lengthBytes: Number(SIZE) }
}
