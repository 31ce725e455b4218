// Every structure of vfio-user, for the map from the documents to the tests and for the tests of all declarations. They
// are no part of `../all.ts`, which decoders look things up in and the C header is made from.
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
