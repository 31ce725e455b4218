import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Qemu } from '../../../../cuda-native/test/vm/guest.js'

const SCRIPT = join(import.meta.dirname, '../../../../../scripts/vfio-user-qemu.mjs')

/** Returns a QEMU that supports vfio-user, or the reason why there is none. */
export function vfioUserQemu(): Qemu | string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], { encoding: 'utf8' })
  if (status === 0) return JSON.parse(stdout) as Qemu
  return `[vm] a QEMU with vfio-user (10.1 or newer) cannot be had: ${/Error: (.*)/.exec(stderr)?.[1] ?? stderr}`
}
