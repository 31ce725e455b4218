import { amdDesktops } from './amd-desktops.js'
import type { Described } from './described.js'
import { drivesInUse } from './drives-in-use.js'
import { intelDesktops } from './intel-desktops.js'
import { laptops } from './laptops.js'
import { servers } from './servers.js'
import { virtual } from './virtual.js'

export type { Described } from './described.js'
export { writeMachine } from './write-machine.js'

/** All described machines. Tests of commands that inspect machines use each of them. */
export const machines: readonly Described[] = [
  ...amdDesktops,
  ...intelDesktops,
  ...servers,
  ...laptops,
  ...virtual,
  ...drivesInUse,
]
