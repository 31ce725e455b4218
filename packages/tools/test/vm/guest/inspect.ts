// Prints what gpunvme, nvme-cli and /sys show about a mounted drive.
import { readFileSync } from 'node:fs'
import { DRIVE, gpunvme, mountDrive, nvme, surroundings } from './mounted.js'

const FEATURES = ['0x01', '0x02', '0x04', '0x06', '0x07', '0x08', '0x09', '0x0a', '0x0b']

mountDrive()
const before = surroundings()
const on = (...args: string[]) => gpunvme([...args, '--drive', 'nvme0'])
const ours = {
  identify: on('nvme', 'identify', '--json'),
  byAddress: gpunvme(['nvme', 'identify', '--drive', DRIVE]),
  byNode: gpunvme(['nvme', 'identify', '--drive', '/dev/nvme0n1', '--fields']),
  controller: on('nvme', 'identify', '--raw'),
  namespace: on('nvme', 'identify', '--nsid', '1', '--raw'),
  identifiers: on('nvme', 'identify', '--cns', '03h', '--json'),
  smart: on('nvme', 'smart', '--json'),
  pages: on('nvme', 'log', '--json'),
  error: on('nvme', 'log', 'error', '--json'),
  firmware: on('nvme', 'log', 'firmware', '--raw'),
  effects: on('nvme', 'log', 'effects', '--raw'),
  features: on('nvme', 'features', '--json'),
}
const theirs = {
  controller: nvme('id-ctrl', '/dev/nvme0', '-b'),
  namespace: nvme('id-ns', '/dev/nvme0n1', '-b'),
  smart: nvme('smart-log', '/dev/nvme0', '-o', 'json'),
  firmware: nvme('fw-log', '/dev/nvme0', '-b'),
  effects: nvme('get-log', '/dev/nvme0', '-i', '5', '-l', '4096', '-b'),
  features: Object.fromEntries(FEATURES.map((fid) => [fid, nvme('get-feature', '/dev/nvme0', '-f', fid)])),
}
const sys = Object.fromEntries(
  ['model', 'serial', 'firmware_rev', 'nvme0n1/size', 'nvme0n1/queue/logical_block_size'].map((name) => [
    name,
    readFileSync(`/sys/class/nvme/nvme0/${name}`, 'utf8').trim(),
  ]),
)
process.stdout.write(`${JSON.stringify({ ours, theirs, sys, before, after: surroundings() })}\n`)
