import { struct, u64, u8 } from '@gpunvme/nvme-spec/layout'
import { hex } from './segments.js'
import { VramRefusedError } from './provider.js'

/*
 * The question that NVIDIA's driver answers about its static BAR1 window, by the names of its header ctrl2080fb.h, without
 * the prefix. Read in the sources of 565.77, 570.86.15, 575.51.02, 580.65.06, 590.48.01 and 595.45.04; not asked of a GPU yet.
 */

/** NV2080_CTRL_CMD_FB_GET_STATIC_BAR1_INFO, to a subdevice. */
export const FB_GET_STATIC_BAR1_INFO = 0x2080_1354

/** As of 570.86. The second byte is padding before 580. */
export const StaticBar1Info = struct(
  'NV2080_CTRL_FB_GET_STATIC_BAR1_INFO_PARAMS',
  { bytes: 24, doc: 'Where the static BAR1 window is', spec: 'vendor NVIDIA 590.48.01 ctrl2080fb.h' },
  {
    ENABLED: u8(0, 'There is a window'),
    WRITE_COMBINED: u8(1, 'It is mapped write-combined, as of 580'),
    START_OFFSET: u64(8, 'Where it begins, from the beginning of BAR1'),
    SIZE: u64(16, 'Bytes'),
  },
)

/** Of 565. That driver enables no window that does not begin where BAR1 does. */
export const StaticBar1Info565 = struct(
  'NV2080_CTRL_FB_GET_STATIC_BAR1_INFO_PARAMS',
  { bytes: 16, doc: 'How long the static BAR1 window is', spec: 'vendor NVIDIA 565.77 ctrl2080fb.h' },
  {
    ENABLED: u8(0, 'There is a window'),
    SIZE: u64(8, 'Bytes'),
  },
)

/** Part of BAR1 behind which the GPU's memory lies from its address 0 on, without gaps. */
export interface StaticBar1Window {
  readonly isEnabled: boolean
  /** From the beginning of BAR1: 0, or what a console and mailboxes take; 24 MiB and 512 MiB are known. */
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/**
 * A control of the driver's resource manager: `parameters` are written in place. Gives its status, NV_OK being 0.
 * Such a one needs an ioctl on a file that the driver handed out, and is not part of this package yet.
 */
export type RmControl = (command: number, parameters: Uint8Array) => number

/**
 * Asks where the window is: by the structure of today's drivers, and by that of 565 where it is refused. The driver
 * refuses a structure of another size than its own, so that an answer is never misread.
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
    found: 'the driver does not say where its window is',
    facts: [`FB_GET_STATIC_BAR1_INFO: status ${hex(status)} with 24 bytes, ${hex(olderStatus)} with 16`],
    next: 'NVIDIA driver 565.77 or newer, on a GPU of the Turing generation or newer',
  })
}

/**
 * What the driver answered, by its length.
 * @throws RangeError for a length that no driver's answer has, VramRefusedError 'query-failed' for an answer that is none.
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
      found: 'the driver answered what cannot be',
      facts: [`ENABLED=${ENABLED} START_OFFSET=${hex(START_OFFSET)} SIZE=${hex(SIZE)}`],
    })
  return { isEnabled: ENABLED === 1, offsetBytes: Number(START_OFFSET), lengthBytes: Number(SIZE) }
}
