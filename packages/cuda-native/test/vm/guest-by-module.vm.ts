import { describeBoots } from './boots.js'
import { MODULE_BOOTS } from './modes.js'

// The tests of guest.vm.ts with the gpunvme module, in separate guests: kernel faults here can be attributed to the
// module.
describeBoots(MODULE_BOOTS)
