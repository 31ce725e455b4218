import type { Check } from '../check.js'
import { arrayChecks } from './array.js'
import { blockIoChecks } from './block-io.js'
import { copyChecks } from './copies.js'
import { driveArrayChecks } from './drive-array.js'
import { driveLoadChecks } from './drive-load.js'
import { driverChecks } from './driver.js'
import { engineChecks } from './engine.js'
import { expertFetchChecks } from './expert-fetch.js'
import { faultChecks } from './faults.js'
import { kernelChecks } from './kernels.js'
import { leaderChecks } from './leaders.js'
import { lingeringChecks } from './lingering.js'
import { measureChecks } from './measure.js'
import { registrationChecks } from './registration.js'
import { ringChecks } from './ring.js'
import { sanitizerChecks } from './sanitizer.js'
import { timerChecks } from './timer.js'
import { transferChecks } from './transfers.js'

/** All checks in the order in which they run: prerequisites of others first, those that can disturb the machine last. */
export const checks: readonly Check[] = [
  ...driverChecks,
  ...kernelChecks,
  ...transferChecks,
  ...engineChecks,
  ...copyChecks,
  ...blockIoChecks,
  ...driveLoadChecks,
  ...driveArrayChecks,
  ...arrayChecks,
  ...expertFetchChecks,
  ...measureChecks,
  ...leaderChecks,
  ...timerChecks,
  ...faultChecks,
  ...registrationChecks,
  ...lingeringChecks,
  ...sanitizerChecks,
  ...ringChecks,
]
