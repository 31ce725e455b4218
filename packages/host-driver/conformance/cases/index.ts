import type { DriverArea, DriverCase } from '../case.js'
import { aborting } from './aborting.js'
import { badInput } from './bad-input.js'
import { bringUp } from './bring-up.js'
import { completions } from './completions.js'
import { concurrency } from './concurrency.js'
import { doorbells } from './doorbells.js'
import { namespaces } from './namespaces.js'
import { prps } from './prps.js'
import { queues } from './queues.js'
import { recovery } from './recovery.js'
import { shutdowns } from './shutdown.js'
import { statuses } from './statuses.js'
import { transfers } from './transfers.js'

/** All driver cases by area. */
export const driverAreas: readonly DriverArea[] = [
  bringUp,
  queues,
  doorbells,
  transfers,
  prps,
  namespaces,
  statuses,
  completions,
  recovery,
  aborting,
  concurrency,
  shutdowns,
  badInput,
]

/** All driver cases, as data: the requirements for a driver on any transport. */
export const driverCases: readonly DriverCase[] = driverAreas.flatMap(({ cases }) => cases)
