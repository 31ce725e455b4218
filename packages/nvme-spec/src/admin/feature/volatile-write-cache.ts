import { bit, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Volatile Write Cache (FID 06h): whether it is enabled (Base 2.1 Figure 390). */
export const VolatileWriteCache = feature(
  'Volatile Write Cache',
  { fid: FID.VOLATILE_WRITE_CACHE, doc: 'State of the write cache', spec: 'Base 2.1 §5.1.25.1.4' },
  { CDW11: { WCE: bit(0, 'Volatile Write Cache Enable') } },
)
