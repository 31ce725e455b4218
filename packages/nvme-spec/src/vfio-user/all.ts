// Every structure of vfio-user, for the specification map and for tests of all declarations. They are not part of
// `../all.ts`, from which decoders and the C header are built.
import { VfioUserDmaAccess, VfioUserDmaMap, VfioUserDmaUnmap, VfioUserRegionAccess } from './access.js'
import {
  VfioCapability,
  VfioIrqInfo,
  VfioIrqSet,
  VfioRegionInfo,
  VfioSparseArea,
  VfioSparseMmap,
  VfioUserDeviceInfo,
} from './device.js'
import { VfioUserHeader, VfioUserVersion } from './message.js'

/** In the order of a conversation. */
export const allVfioUserStructs = [
  VfioUserHeader,
  VfioUserVersion,
  VfioUserDeviceInfo,
  VfioRegionInfo,
  VfioCapability,
  VfioSparseMmap,
  VfioSparseArea,
  VfioIrqInfo,
  VfioIrqSet,
  VfioUserDmaMap,
  VfioUserDmaUnmap,
  VfioUserRegionAccess,
  VfioUserDmaAccess,
] as const
