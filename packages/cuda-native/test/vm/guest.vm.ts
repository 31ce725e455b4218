import { describeBoots } from './boots.js'
import { BOOTS } from './modes.js'

// The driver in Linux guests, on the interfaces of a real kernel and QEMU's NVMe controller. Guests run concurrently,
// since each of them uses about one core.
describeBoots(BOOTS)
