import type { ControllerCase } from '../case.js'
import { registerCases } from './registers.js'

/** Every case, in the order of the specification's chapters. */
export const controllerCases: readonly ControllerCase[] = [...registerCases]
