// Measures libnvm with libnvm-read.c, which requires a function that is bound to no driver, enabled, and bus master.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import { fixed, print, take } from './lib.js'
import { order, type Measurement } from './peer-window.js'

const { PEER_LIBNVM: program = '', PEER_COUNTERS: counters = '' } = process.env
const binding = await take(fixed)
const folder = join('/sys/bus/pci/devices', fixed.bdf)
writeFileSync(join(folder, 'enable'), '1')
const { CMD } = PciHeader
const config = openSync(join(folder, 'config'), 'r+')
const command = Buffer.alloc(2)
readSync(config, command, 0, 2, CMD.offset)
command.writeUInt16LE(command.readUInt16LE() | (1 << CMD.MSE.lsb) | (1 << CMD.BME.lsb))
writeSync(config, command, 0, 2, CMD.offset)
closeSync(config)

try {
  for (const { name, bytes, depth } of order.shapes) {
    const numbers = [bytes, depth, order.spanBytes, order.warmUpMs, order.windowMs].map(String)
    const said = execFileSync(program, [fixed.bdf, counters, ...numbers], { encoding: 'utf8' })
    const measured = JSON.parse(said) as Omit<Measurement, 'driver' | 'shape'>
    print({ driver: 'libnvm', shape: name, ...measured } satisfies Measurement)
  }
} finally {
  await binding.restore()
}
