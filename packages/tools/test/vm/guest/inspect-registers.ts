// Registers of a drive that Linux has and that is mounted, where the kernel lets them be seen.
import { gpunvme, mountDrive, nvme, surroundings } from './mounted.js'

mountDrive()
const before = surroundings()
const on = (...args: string[]) => gpunvme(['regs', '--drive', 'nvme0', '--json', ...args])
const ours = on()
const watched = on('--watch', '--count', '3', '--interval', '20')
const theirs = nvme('show-regs', '/dev/nvme0', '-o', 'json')
process.stdout.write(`${JSON.stringify({ ours, watched, theirs, before, after: surroundings() })}\n`)
