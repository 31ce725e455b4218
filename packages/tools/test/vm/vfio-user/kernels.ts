import { newestParts } from '../../../../cuda-native/test/vm/kmod-kernels.js'
import { parts } from '../../../../cuda-native/test/vm/modes.js'
import type { GuestParts } from '../../../../cuda-native/test/vm/parts.js'

/** The series whose driver has to do with our drives. */
export type Series = '6.1' | '7.2'

/** What a guest with that kernel is made of. Text where it cannot be had: why. */
export function kernelOf(series: Series): GuestParts | string {
  const installed = parts()
  // What the other guest needs, QEMU and the addon among it, this one needs too.
  return series === '6.1' || typeof installed === 'string' ? installed : newestParts()
}

/** `npm run test:vm:full`, in place of `npm run test:vm`. */
export const isFull = process.env['GPUNVME_VM'] === 'full'

/** `npm run test:vm` has each test with one kernel, `npm run test:vm:full` with both. */
export function kernelsFor(usual: Series): readonly Series[] {
  return isFull ? ['6.1', '7.2'] : [usual]
}
