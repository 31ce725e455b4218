import { bits, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Keep Alive Timer (FID 0Fh): timeout after which the controller considers its host lost (Base 2.1 Figure 397). */
export const KeepAliveTimer = feature(
  'Keep Alive Timer',
  { fid: FID.KEEP_ALIVE_TIMER, doc: 'Timeout for host activity', spec: 'Base 2.1 §5.1.25.1.8' },
  { CDW11: { KATO: bits(31, 0, 'Keep Alive Timeout in milliseconds; 0 means off') } },
)
