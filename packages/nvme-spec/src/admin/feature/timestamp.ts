import { bit, bits, feature, struct, u48, u8 } from '../../layout/index.js'
import { FID } from '../features.js'

/** A time; TSTMPS is its status, zero in Set Features (Base 2.1 Figures 395 and 396). */
export const TimestampData = struct(
  'Timestamp data',
  { bytes: 8, doc: 'A time and its origin', spec: 'Base 2.1 §5.1.25.1.7' },
  {
    TSTMP: u48(0, 'Timestamp in milliseconds since 1970 or since a reset'),
    TSTMPS: u8(6, 'Timestamp Attribute', {
      SYNC: bit(0, 'Synch: the clock may have stopped'),
      TSTMPO: bits(3, 1, 'Timestamp Origin', { RESET: 0, SET_FEATURES: 1 }),
    }),
  },
)

/** Timestamp (FID 0Eh): the controller's clock, as data. */
export const Timestamp = feature(
  'Timestamp',
  { fid: FID.TIMESTAMP, doc: "The controller's clock", spec: 'Base 2.1 §5.1.25.1.7', data: TimestampData },
  {},
)
