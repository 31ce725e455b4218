// Requests about the same drive that the kernel, the controller or gpunvme rejects.
import { renameSync, writeFileSync } from 'node:fs'
import { gpunvme, NOBODY, surroundings } from './mounted.js'

const before = surroundings()
const on = (...args: string[]) => gpunvme([...args, '--drive', 'nvme0'])
const unknown = {
  page: on('nvme', 'log', '0xca'),
  feature: on('nvme', 'features', '0xc5'),
  namespace: on('nvme', 'identify', '--nsid', '7'),
  structure: on('nvme', 'identify', '--cns', '0xc7'),
  drive: gpunvme(['nvme', 'smart', '--drive', 'nvme9']),
  image: on('nvme', 'smart', '--image', 'drive.img'),
}
const registers = on('nvme', 'regs')
const asNobody = gpunvme(['nvme', 'smart', '--drive', 'nvme0'], NOBODY)
renameSync('/dev/nvme0', '/dev/nvme0-hidden')
const withoutNode = on('nvme', 'smart')
renameSync('/dev/nvme0-hidden', '/dev/nvme0')
const after = surroundings()
// Another drive, before and after its removal from the bus.
const there = gpunvme(['nvme', 'smart', '--drive', 'nvme1'])
writeFileSync('/sys/bus/pci/devices/0000:00:05.0/remove', '1')
const gone = gpunvme(['nvme', 'smart', '--drive', '0000:00:05.0'])
process.stdout.write(`${JSON.stringify({ unknown, registers, asNobody, withoutNode, there, gone, before, after })}\n`)
