import { addonMissing } from '../../../../cuda-native/test/vm/bundle.js'
import { newestParts } from '../../../../cuda-native/test/vm/kmod-kernels.js'
import { guestParts, type GuestParts } from '../../../../cuda-native/test/vm/parts.js'

/** The series whose driver has to do with our drives. */
export type Series = '6.1' | '7.2'

/** What a guest with that kernel is made of. Text where it cannot be had: why. */
export function kernelOf(series: Series): GuestParts | string {
  if (addonMissing !== undefined) return addonMissing
  if (series === '7.2') return newestParts()
  const found = guestParts()
  return typeof found === 'string' ? `[vm] ${found}` : found
}

/** `npm run test:vm:full`, in place of `npm run test:vm`. */
export const isFull = process.env['GPUNVME_VM'] === 'full'

/** `npm run test:vm` has each test with one kernel, `npm run test:vm:full` with both. */
export function kernelsFor(usual: Series): readonly Series[] {
  return isFull ? ['6.1', '7.2'] : [usual]
}
