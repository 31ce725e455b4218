import { bit, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Sanitize Config (FID 17h): what a controller does that cannot keep media allocated. */
export const SanitizeConfig = feature(
  'Sanitize Config',
  { fid: FID.SANITIZE_CONFIG, doc: 'Answer to No-Deallocate', spec: 'libnvme 1.3 NVME_FEAT_SC_NODRM_SHIFT' },
  { CDW11: { NODRM: bit(0, 'No-Deallocate Response Mode: 1 warns, 0 refuses') } },
)
