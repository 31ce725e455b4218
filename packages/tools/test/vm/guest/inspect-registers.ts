// Reads the registers of a mounted drive, whose registers the kernel exposes.
import { gpunvme, mountDrive, nvme, surroundings } from './mounted.js'

mountDrive()
const before = surroundings()
const on = (...args: string[]) => gpunvme(['nvme', 'regs', '--drive', 'nvme0', '--json', ...args])
const ours = on()
const watched = on('--watch', '--count', '3', '--interval', '20')
const theirs = nvme('show-regs', '/dev/nvme0', '-o', 'json')
process.stdout.write(`${JSON.stringify({ ours, watched, theirs, before, after: surroundings() })}\n`)
