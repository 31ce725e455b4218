import { bit, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Sanitize Config (FID 17h): behavior of a controller that cannot keep media allocated. */
export const SanitizeConfig = feature(
  'Sanitize Config',
  { fid: FID.SANITIZE_CONFIG, doc: 'Response to No-Deallocate', spec: 'libnvme 1.3 NVME_FEAT_SC_NODRM_SHIFT' },
  { CDW11: { NODRM: bit(0, 'No-Deallocate Response Mode: 0 for error, 1 for warning') } },
)
