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

/** All driver cases by their concern. */
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

/** What a driver has to do on any transport, as data. */
export const driverCases: readonly DriverCase[] = driverAreas.flatMap(({ cases }) => cases)
