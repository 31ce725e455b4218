import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** I/O Command Set Profile (FID 19h): the combination in use (Base 2.1 Figures 410 and 411). */
export const IoCommandSetProfile = feature(
  'I/O Command Set Profile',
  { fid: FID.IO_COMMAND_SET_PROFILE, doc: 'I/O command sets in use', spec: 'Base 2.1 §5.1.25.1.17' },
  { CDW11: { IOCSCI: bits(8, 0, 'I/O Command Set Combination Index') } },
)
