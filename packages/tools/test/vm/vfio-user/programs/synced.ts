// Writes files to a new ext4 file system, and prints a line for each after fsync of the file and of its folder. Continues
// until something fails, since the drive is gone.
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = '/tmp/mounted'
const SLOT = '/sys/bus/pci/devices/0000:00:04.0/nvme'
const sleep = () => execFileSync('/tmp/vm/busybox', ['sleep', '0.1'])
const node = () => (existsSync(SLOT) ? `/dev/${readdirSync(SLOT)[0]}n1` : '')

for (let tries = 0; tries < 300 && !existsSync(node()); tries++) sleep()
execFileSync('/sbin/mkfs.ext4', ['-q', '-F', node()])
mkdirSync(FOLDER)
execFileSync('/bin/mount', [node(), FOLDER])

const folder = openSync(FOLDER, 'r')
for (let number = 0; ; number++) {
  const name = `file${number}`
  const bytes = randomBytes(4096 + (number % 16) * 5000)
  const file = openSync(join(FOLDER, name), 'w')
  writeSync(file, bytes)
  fsyncSync(file)
  closeSync(file)
  fsyncSync(folder)
  process.stdout.write(`${JSON.stringify({ name, sha256: createHash('sha256').update(bytes).digest('hex') })}\n`)
}
