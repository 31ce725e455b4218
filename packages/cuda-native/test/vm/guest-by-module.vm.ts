import { describeBoots } from './boots.js'
import { MODULE_BOOTS } from './modes.js'

// The same by the module gpunvme, in guests of their own: what it does to a kernel is seen there and nowhere else.
describeBoots(MODULE_BOOTS)
