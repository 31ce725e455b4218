import { addonMissing } from '../../../../cuda-native/test/vm/bundle.js'
import { newestParts } from '../../../../cuda-native/test/vm/kmod-kernels.js'
import { guestParts, type GuestParts } from '../../../../cuda-native/test/vm/parts.js'

/** Kernel series under test. */
export type Series = '6.1' | '7.2'

/** Returns the files of a guest with this kernel, or the reason why there are none. */
export function kernelOf(series: Series): GuestParts | string {
  if (addonMissing !== undefined) return addonMissing
  if (series === '7.2') return newestParts()
  const found = guestParts()
  return typeof found === 'string' ? `[vm] ${found}` : found
}

/** True in `npm run test:vm:full`, false in `npm run test:vm`. */
export const isFull = process.env['GPUNVME_VM'] === 'full'

/** Returns both kernels in `npm run test:vm:full`, and only `usual` in `npm run test:vm`. */
export function kernelsFor(usual: Series): readonly Series[] {
  return isFull ? ['6.1', '7.2'] : [usual]
}
