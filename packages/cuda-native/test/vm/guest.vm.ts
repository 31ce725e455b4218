import { describeBoots } from './boots.js'
import { BOOTS } from './modes.js'

// The driver in a Linux guest, by the interfaces of a real kernel, on QEMU's NVMe controller. Guests run side by side, since
// none of them keeps more than one core busy.
describeBoots(BOOTS)
