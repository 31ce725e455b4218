// At the end the kernel's own driver has what it had at the beginning, and works.
import { closeSync, openSync, readSync } from 'node:fs'
import { blockDevice, driverOf, fixed, print } from './lib.mjs'

const { path } = await blockDevice(fixed)
const file = openSync(path, 'r')
const bytes = readSync(file, Buffer.alloc(4096), 0, 4096, 0)
closeSync(file)
print({ driver: driverOf(fixed), bytes })
